package home

// Address is where the host of this home listens: a named pipe that only this
// user may open.
func (h *Home) Address() (string, error) { return `\\.\pipe\gofer-` + h.Hash(), nil }
