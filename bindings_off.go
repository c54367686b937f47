//go:build !bindings

package main

const generating = false
