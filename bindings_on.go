//go:build bindings

package main

// generating says that this build writes the front end's bindings and ends:
// nothing with side effects may come before that.
const generating = true
