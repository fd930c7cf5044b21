package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
	"github.com/antipode-bench/antipode/units"
)

//go:embed body.html
var bodyHTML string

// most rows of a flag, and most bad lines, that the page writes out. report.json
// has more of them, and the table of pairs filters by flag.
const most = 50

// view is what the template asks for beside the input.
type view struct {
	Input
	Licences string
	Flagged  []flaggedView
}

type flaggedView struct {
	analysis.Check
	First []finding
	More  int
}

// finding is a flagged row with the place of its pair, for the link.
type finding struct {
	analysis.Flagged
	Pair int32
}

func body(w io.Writer, in Input) error {
	t, err := template.New("body").Funcs(words()).Parse(bodyHTML)
	if err != nil {
		return err
	}
	return t.Execute(w, view{in, licences, flaggedViews(in)})
}

// words are how the page says figures.
func words() template.FuncMap {
	return template.FuncMap{
		"rate":      func(v float64) string { return orDash(v, units.Rate) },
		"ms":        func(v float64) string { return orDash(v, units.Milliseconds) },
		"count":     func(n int) string { return units.Thousands(strconv.Itoa(n)) },
		"group":     groupTitle,
		"estimate":  estimate,
		"slope":     slope,
		"times":     func(v float64) string { return orDash(v, func(v float64) string { return fmt.Sprintf("%.2f", v) }) },
		"settings":  settings,
		"machines":  machines,
		"first":     func(b []results.BadRow) []results.BadRow { return b[:min(most, len(b))] },
		"less":      func(a, b int) int { return a - b },
		"anyFlag":   anyFlag,
		"cleared":   cleared,
		"placeText": placeText,
	}
}

func orDash(v float64, text func(float64) string) string {
	if math.IsNaN(v) {
		return "–"
	}
	return text(v)
}

func groupTitle(name string) string {
	from, to, two := strings.Cut(name, "-")
	if !two {
		return "All"
	}
	return cloudTitle(from) + " → " + cloudTitle(to)
}

func cloudTitle(cloud string) string {
	switch cloud {
	case "aws", "gcp":
		return strings.ToUpper(cloud)
	case "azure":
		return "Azure"
	}
	return cloud
}

// estimate is a correlation with its interval, if it has one.
func estimate(e *analysis.Estimate) string {
	if e == nil {
		return "–"
	}
	if e.Low == nil || e.High == nil {
		return signed(e.Value, 2)
	}
	return fmt.Sprintf("%s (%s to %s)", signed(e.Value, 2), signed(*e.Low, 2), signed(*e.High, 2))
}

// slope is what 1,000 km add, in milliseconds.
func slope(l *analysis.Line) string {
	if l == nil {
		return "–"
	}
	e := l.SlopePerKm
	if e.Low == nil || e.High == nil {
		return signed(e.Value*1000, 1) + " ms"
	}
	return fmt.Sprintf("%s ms (%s to %s)", signed(e.Value*1000, 1), signed(*e.Low*1000, 1), signed(*e.High*1000, 1))
}

// signed has a real minus sign.
func signed(v float64, decimals int) string {
	return strings.Replace(strconv.FormatFloat(v, 'f', decimals, 64), "-", "−", 1)
}

// settings are a test's, by name; what is a list or an object is JSON's.
func settings(test map[string]any) []string {
	var all []string
	for name, v := range test {
		if v != nil && v != "" {
			all = append(all, fmt.Sprintf("%s = %v", name, v))
		}
	}
	sort.Strings(all)
	return all
}

// machines counts those that are alike in what matters: where they stand doesn't.
func machines(all []results.MachineFacts) []string {
	n := map[string]int{}
	for _, m := range all {
		cloud, _, _ := strings.Cut(m.Region, ":")
		var parts []string
		for _, part := range []string{cloudTitle(cloud), m.Type, cpus(m.CPUs), m.Image, m.Kernel, m.CongestionControl, m.Probe} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		n[strings.Join(parts, ", ")]++
	}
	var lines []string
	for what, n := range n {
		lines = append(lines, fmt.Sprintf("%d × %s", n, what))
	}
	sort.Strings(lines)
	return lines
}

func cpus(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n) + " CPUs"
}

func anyFlag(checks []flaggedView) bool {
	for _, c := range checks {
		if c.Rows > 0 {
			return true
		}
	}
	return false
}

// cleared names the checks that found nothing, with what they were asked of.
func cleared(checks []flaggedView) string {
	var names []string
	for _, c := range checks {
		if c.Rows == 0 && c.Checked > 0 {
			names = append(names, fmt.Sprintf("%s (%s rows)", strings.ToLower(c.Title[:1])+c.Title[1:], units.Thousands(strconv.Itoa(c.Checked))))
		}
	}
	return strings.Join(names, ", ")
}

func placeText(m analysis.Misplaced) string {
	return fmt.Sprintf("taken to be at %.2f°, %.2f°", m.Latitude, m.Longitude)
}

func flaggedViews(in Input) []flaggedView {
	var views []flaggedView
	for _, c := range in.Report.Checks {
		v := flaggedView{Check: c}
		for _, f := range in.Report.Flagged {
			if f.Flag == c.Flag && len(v.First) < most {
				v.First = append(v.First, finding{f, in.Data.Obs[f.Obs].Pair})
			}
		}
		v.More = c.Rows - len(v.First)
		views = append(views, v)
	}
	return views
}
