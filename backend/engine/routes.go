package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gofer/backend/config"
	"gofer/backend/fault"
	"gofer/backend/id"
)

// findRoute finds a route by its id or its name.
func findRoute(s config.Settings, wanted string) (config.Route, bool) {
	for _, r := range s.Routes {
		if r.ID == wanted || strings.EqualFold(r.Name, wanted) {
			return r, true
		}
	}
	return config.Route{}, false
}

// modelSource returns the id of the provider or the route that a name stands for.
func (e *Engine) modelSource(wanted string) (string, error) {
	if r, ok := findRoute(e.settings.Settings(), wanted); ok {
		return r.ID, nil
	}
	p, err := e.provider(wanted)
	return p.ID, err
}

// Routes lists the routes.
func (e *Engine) Routes(context.Context) ([]Route, error) {
	s := e.settings.Settings()
	out := []Route{}
	for _, r := range s.Routes {
		out = append(out, shownRoute(r, s))
	}
	return out, nil
}

func shownRoute(r config.Route, s config.Settings) Route {
	out := Route{ID: r.ID, Name: r.Name, Legs: r.Legs, IsDefault: r.ID == s.DefaultRoute}
	for _, l := range r.Ordered() {
		for _, p := range s.Providers {
			if p.ID != l.Provider {
				continue
			}
			model := l.Model
			if model == "" {
				model = p.Model
			}
			out.Order = append(out.Order, strings.TrimSpace(p.Name+" "+model))
		}
	}
	return out
}

// SaveRoute adds a route or changes one.
func (e *Engine) SaveRoute(ctx context.Context, spec RouteSpec) (Route, error) {
	r := config.Route{ID: spec.ID, Name: strings.TrimSpace(spec.Name), Legs: spec.Legs}
	if r.ID == "" {
		r.ID = id.New()
	}
	for i, l := range r.Legs {
		p, err := e.provider(l.Provider)
		if err != nil {
			return Route{}, err
		}
		r.Legs[i].Provider = p.ID
	}
	err := e.settings.Change(func(s *config.Settings) error {
		at := slices.IndexFunc(s.Routes, func(other config.Route) bool { return other.ID == r.ID })
		switch {
		case at >= 0:
			s.Routes[at] = r
		case spec.ID != "":
			return fault.New(fault.NotFound, fmt.Sprintf("There is no route %q.", spec.ID), "It may have been removed.")
		default:
			s.Routes = append(s.Routes, r)
		}
		if spec.Default {
			s.DefaultRoute = r.ID
		} else if s.DefaultRoute == r.ID && spec.NotDefault {
			s.DefaultRoute = ""
		}
		return nil
	})
	if err != nil {
		return Route{}, err
	}
	return shownRoute(r, e.settings.Settings()), e.tellSettings(ctx)
}

// RemoveRoute forgets a route. A session that used it has to choose anew.
func (e *Engine) RemoveRoute(ctx context.Context, routeID string) error {
	err := e.settings.Change(func(s *config.Settings) error {
		r, ok := findRoute(*s, routeID)
		if !ok {
			return fault.New(fault.NotFound, fmt.Sprintf("There is no route %q.", routeID), "See Settings under Routes.")
		}
		s.Routes = slices.DeleteFunc(s.Routes, func(other config.Route) bool { return other.ID == r.ID })
		if s.DefaultRoute == r.ID {
			s.DefaultRoute = ""
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.tellSettings(ctx)
}

// withoutProvider takes a provider out of the settings, and out of every route.
// A route that is left without a model goes with it.
func withoutProvider(s *config.Settings, providerID string) {
	s.Providers = slices.DeleteFunc(s.Providers, func(p config.Provider) bool { return p.ID == providerID })
	if s.DefaultProvider == providerID {
		s.DefaultProvider = ""
	}
	for i := range s.Routes {
		s.Routes[i].Legs = slices.DeleteFunc(s.Routes[i].Legs, func(l config.Leg) bool { return l.Provider == providerID })
	}
	s.Routes = slices.DeleteFunc(s.Routes, func(r config.Route) bool {
		if len(r.Legs) == 0 && r.ID == s.DefaultRoute {
			s.DefaultRoute = ""
		}
		return len(r.Legs) == 0
	})
}
