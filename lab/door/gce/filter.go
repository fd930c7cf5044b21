package gce

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// filter is a list call's filter expression, as far as the door reads it:
// comparisons "field=value" (also != and :) joined by AND or nothing, by OR, with
// parentheses; or one of the older form "field eq regexp" (also ne).
type filter struct{ any []clause } // nil: everything passes

// clause is comparisons that must all hold.
type clause []comparison

type comparison struct {
	field, op, value string
	pattern          *regexp.Regexp // for eq and ne
}

var older = regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9_.-]*)\s+(eq|ne)\s+(.+?)\s*$`)

func parseFilter(text string) (filter, error) {
	if m := older.FindStringSubmatch(text); m != nil {
		pattern, err := regexp.Compile("^(?:" + strings.Trim(m[3], `'"`) + ")$")
		if err != nil {
			return filter{}, badFilter(text)
		}
		return filter{[]clause{{{field: m[1], op: m[2], pattern: pattern}}}}, nil
	}
	tokens, err := lexFilter(text)
	if err != nil {
		return filter{}, err
	}
	if len(tokens) == 0 {
		return filter{}, nil
	}
	p := &filterParser{text: text, tokens: tokens}
	any, err := p.or()
	if err != nil {
		return filter{}, err
	}
	if len(p.tokens) > 0 {
		return filter{}, badFilter(text)
	}
	return filter{any}, nil
}

func badFilter(text string) *failure {
	return invalidField("filter", text, "Invalid list filter expression.")
}

// token is "(", ")", an operator, or a word.
type token struct {
	text string
	word bool
}

func lexFilter(text string) ([]token, error) {
	var tokens []token
	for s := strings.TrimSpace(text); s != ""; s = strings.TrimSpace(s) {
		n := 1
		t := token{text: s[:1]}
		switch {
		case strings.HasPrefix(s, "!="):
			n = 2
			t.text = s[:2]
		case strings.ContainsRune("()=:", rune(s[0])):
		case s[0] == '"' || s[0] == '\'':
			end := strings.IndexByte(s[1:], s[0])
			if end < 0 {
				return nil, badFilter(text)
			}
			n = end + 2
			t = token{s[1 : end+1], true}
		default:
			if n = strings.IndexFunc(s, endsWord); n < 0 {
				n = len(s)
			}
			if n == 0 {
				return nil, badFilter(text)
			}
			t = token{s[:n], true}
		}
		tokens = append(tokens, t)
		s = s[n:]
	}
	return tokens, nil
}

func endsWord(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`()=:!"'<>`, r) }

// filterParser turns tokens into clauses: an "or" of "and"s.
type filterParser struct {
	text   string
	tokens []token
	depth  int
}

// maxClauses bounds what nested parentheses multiply to.
const (
	maxClauses = 1000
	maxNesting = 20
)

func (p *filterParser) peek() token {
	if len(p.tokens) == 0 {
		return token{}
	}
	return p.tokens[0]
}

func (p *filterParser) next() token {
	t := p.peek()
	if len(p.tokens) > 0 {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *filterParser) or() ([]clause, error) {
	any, err := p.and()
	for err == nil && p.peek() == (token{"OR", true}) {
		p.next()
		var more []clause
		more, err = p.and()
		any = append(any, more...)
	}
	return any, err
}

func (p *filterParser) and() ([]clause, error) {
	var all []clause
	for t := p.peek(); t != (token{}) && t.text != ")" && t != (token{"OR", true}); t = p.peek() {
		if t == (token{"AND", true}) {
			p.next()
		}
		more, err := p.term()
		if err != nil {
			return nil, err
		}
		if all = product(all, more); len(all) > maxClauses {
			return nil, badFilter(p.text)
		}
	}
	if all == nil {
		return nil, badFilter(p.text)
	}
	return all, nil
}

// product is "(a or b) and (c or d)" written out.
func product(a, b []clause) []clause {
	if a == nil {
		return b
	}
	var out []clause
	for _, x := range a {
		for _, y := range b {
			out = append(out, append(append(clause{}, x...), y...))
		}
	}
	return out
}

func (p *filterParser) term() ([]clause, error) {
	t := p.next()
	if t.text == "(" && !t.word {
		if p.depth++; p.depth > maxNesting {
			return nil, badFilter(p.text)
		}
		any, err := p.or()
		p.depth--
		if err != nil || p.next() != (token{")", false}) {
			return nil, badFilter(p.text)
		}
		return any, nil
	}
	op, value := p.next(), p.next()
	if !t.word || op.word || !strings.Contains("= != :", op.text) || op.text == "" || !value.word {
		return nil, badFilter(p.text)
	}
	return []clause{{{field: t.text, op: op.text, value: value.text}}}, nil
}

// passes says whether a resource, as JSON, passes.
func (f filter) passes(raw []byte) (bool, error) {
	if f.any == nil {
		return true, nil
	}
	var resource any
	if err := json.Unmarshal(raw, &resource); err != nil {
		return false, fmt.Errorf("filter: %w", err)
	}
	for _, c := range f.any {
		if c.holds(resource) {
			return true, nil
		}
	}
	return false, nil
}

func (c clause) holds(resource any) bool {
	for _, cmp := range c {
		if !cmp.holds(resource) {
			return false
		}
	}
	return true
}

func (c comparison) holds(resource any) bool {
	value, ok := field(resource, strings.Split(c.field, "."))
	switch c.op {
	case "eq":
		return ok && c.pattern.MatchString(value)
	case "ne":
		return !ok || !c.pattern.MatchString(value)
	case ":":
		return ok && (c.value == "*" || like(c.value, value) || strings.Contains(value, c.value))
	case "!=":
		return !ok || !like(c.value, value)
	default:
		return ok && like(c.value, value)
	}
}

// like compares with "*" as a wildcard.
func like(pattern, value string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == value
	}
	hide := strings.NewReplacer("/", "\x00", "[", `\[`, "?", `\?`)
	ok, err := path.Match(hide.Replace(pattern), strings.ReplaceAll(value, "/", "\x00"))
	return err == nil && ok
}

// field finds a field by its path; a label's key is its last step.
func field(v any, steps []string) (string, bool) {
	for _, s := range steps {
		m, ok := v.(map[string]any)
		if !ok {
			return "", false
		}
		if v, ok = m[s]; !ok {
			return "", false
		}
	}
	if s, ok := v.(string); ok {
		return s, true
	}
	return fmt.Sprint(v), true
}
