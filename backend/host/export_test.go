package host

// SetMaxLine changes the bound of a message and returns what puts it back.
func SetMaxLine(n int) (restore func()) {
	old := maxLine
	maxLine = n
	return func() { maxLine = old }
}
