package providers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Drain looks and removes until two looks in a row find nothing, the latter not
// before settled (see Doubts): a list may lag behind a create, and a thing just
// made would be left for ever.
//
// remove may leave what is still in use and may fail: the next look says
// whether that mattered, and its last error is returned only if something is
// left after limit. Two looks in a row that fail end it; what a failed look
// did find is removed all the same.
func Drain(ctx context.Context, limit time.Duration, settled time.Time,
	look func(context.Context) ([]Resource, error), remove func(context.Context, []Resource) error) error {
	d := drain{settled: settled, look: look, remove: remove}
	err := Poll(ctx, limit, AtOnce(Steady()), "teardown", d.pass)
	if err == nil {
		return nil
	}
	if cause := errors.Join(d.lookErr, d.removeErr); cause != nil {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	if len(d.left) > 0 {
		err = fmt.Errorf("still there: %s: %w", names(d.left), err)
	}
	return err
}

type drain struct {
	settled time.Time

	look   func(context.Context) ([]Resource, error)
	remove func(context.Context, []Resource) error

	clean, blind int // looks in a row that found nothing; that failed
	left         []Resource
	lookErr      error
	removeErr    error
}

func (d *drain) pass(ctx context.Context) (bool, error) {
	early := time.Now().Before(d.settled)
	left, err := d.look(ctx)
	d.lookErr = err
	if len(left) > 0 || err == nil {
		d.left = left
	}
	if len(left) > 0 {
		d.removeErr = d.remove(ctx, left)
	}
	switch {
	case err != nil:
		d.clean = 0
		d.blind++
		if kind := KindOf(err); d.blind == 2 || kind == Auth || kind == Skip {
			return false, errBlind
		}
	case len(left) > 0:
		d.clean, d.blind = 0, 0
	default:
		d.blind = 0
		d.clean++
	}
	return d.clean >= 2 && !early, nil
}

var errBlind = errors.New("what is left is unknown")

func names(resources []Resource) string {
	var words []string
	for _, r := range resources {
		words = append(words, strings.TrimSpace(r.Region+" "+r.Kind+" "+r.ID))
	}
	return strings.Join(words, ", ")
}
