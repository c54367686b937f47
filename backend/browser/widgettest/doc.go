// Package widgettest holds tests of the browser against hard widgets: real
// libraries under the tag widgettest, which need the packages that make puts
// into testdata/node_modules, and hand-made pages, which need nothing.
package widgettest
