package main

import (
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/orchestrator/plan"
)

func TestRepeatFlags(t *testing.T) {
	for args, tt := range map[string]struct {
		want  plan.Repetition
		wrong string
	}{
		"":                                   {plan.Repetition{}, ""},
		"--repeat 1":                         {plan.Repetition{}, ""},
		"--repeat 7":                         {plan.Repetition{Times: 7}, ""},
		"--until-stable 5%":                  {plan.Repetition{Times: 20, Stable: .05}, ""},
		"--until-stable 5 --max-repeats 6":   {plan.Repetition{Times: 6, Stable: .05}, ""},
		"--repeat 0":                         {wrong: "--repeat 0: not 1 to 1000"},
		"--repeat 1001":                      {wrong: "--repeat 1001: not 1 to 1000"},
		"--repeat 3 --until-stable 5%":       {wrong: "say --max-repeats instead"},
		"--max-repeats 8":                    {wrong: "--max-repeats 8: bounds --until-stable, which is not there"},
		"--until-stable 5% --max-repeats 5":  {wrong: "--max-repeats 5: not 6 to 1000"},
		"--until-stable 0.01%":               {wrong: "--until-stable 0.01%: not 0.1% to 100%"},
		"--until-stable 5% --max-repeats -1": {wrong: "--max-repeats -1: not 6 to 1000"},
	} {
		t.Run(args, func(t *testing.T) {
			f := parsed(t, strings.Fields(args)...)
			err := f.check()
			switch {
			case tt.wrong == "" && (err != nil || f.repeat.repetition() != tt.want):
				t.Errorf("%+v, %v; want %+v", f.repeat.repetition(), err, tt.want)
			case tt.wrong != "" && (err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), tt.wrong)):
				t.Errorf("%v, want %q", err, tt.wrong)
			}
		})
	}
}

// TestPlanRepeat: time, bytes and egress are those of all repetitions.
func TestPlanRepeat(t *testing.T) {
	args := []string{"--max-regions", "6", "--stop", "bytes", "--bytes", "10MB"}
	once := forecastOf(t, args...)
	for flag, times := range map[string]float64{"--repeat=3": 3, "--until-stable=5%": 20} {
		f := forecastOf(t, append(args, flag)...)
		if f.BoundS != times*once.BoundS || f.Bytes != times*once.Bytes || f.Parts.Egress < .999*times*once.Parts.Egress || f.Repeats != int(times) || f.Pairs != once.Pairs {
			t.Errorf("%s: %+v, once %+v", flag, f, once)
		}
		if text, err := planOf(t, append(args, flag)...); err != nil || !strings.Contains(text, " times, ") {
			t.Errorf("%v, nothing of %s in\n%s", err, flag, text)
		}
	}
	if _, err := planOf(t, "--until-stable", "wide"); err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), "--until-stable") {
		t.Errorf("%v", err)
	}
}
