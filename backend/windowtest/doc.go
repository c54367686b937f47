// Package windowtest drives the real window the way a person with a screen
// reader and a keyboard does: it finds things by role and name over AT-SPI,
// presses real keys and reads what the window says. Nothing in the product
// knows about it.
//
// It brings a desktop of its own (display, window manager, bus, accessibility
// registry), so that a test neither sees nor disturbs the one it runs on. All
// of it ends with the test, and also when the test process is killed.
//
// It needs Linux and is built with the tag windowtest.
package windowtest
