-- +goose Up
-- what a replay of an action would need: ways to its targets, how the page looked
ALTER TABLE steps ADD COLUMN record TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE steps DROP COLUMN record;
