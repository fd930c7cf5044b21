package aws

import (
	"context"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// once makes a thing that the API takes no client token for, and returns its id.
// What an answer that was lost has made it finds. In doubt, where an earlier
// process may have lost one, it looks before it asks; found is true for what was
// there then.
func (r *region) once(ctx context.Context, op string, doubt bool,
	create, find func(context.Context) (id string, err error)) (id string, found bool, err error) {
	look := func(ctx context.Context) (string, bool, error) {
		id, err := r.appears(ctx, op, find)
		return id, id != "", err
	}
	if doubt {
		if id, found, err = look(ctx); found || err != nil {
			return id, found, err
		}
	}
	id, err = providers.CallOnce(ctx, r.caller, r.name, op, func(ctx context.Context) (string, error) {
		id, err := create(ctx)
		return id, plain(err)
	}, look)
	return id, false, err
}

// appears looks for a thing for as long as lists may be late. Its id is empty if
// it is not there.
func (r *region) appears(ctx context.Context, op string, find func(context.Context) (id string, err error)) (id string, err error) {
	settled := time.Now().Add(providers.ListLag)
	err = providers.Poll(ctx, consistencyLimit, providers.AtOnce(providers.Steady()), "what "+op+" made", func(ctx context.Context) (bool, error) {
		late := !time.Now().Before(settled)
		id, err = find(ctx)
		return id != "" || late, err
	})
	return id, err
}

// existsIsFine takes what is as it should be for made.
func existsIsFine(err error) error {
	if providers.KindOf(err) == providers.Exists {
		return nil
	}
	return err
}
