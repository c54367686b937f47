package event

//go:generate go run ./gen ../../frontend/src/lib/api/events.gen.ts
