package engine_test

import (
	"testing"

	"gofer/backend/engine"
)

func TestATitleEndsWithAWholeWord(t *testing.T) {
	for text, want := range map[string]string{
		"Short":                              "Short",
		"Book the Birch room for Thursday":   "Book the Birch room for",
		"Book the Birch room: fill in":       "Book the Birch room: fill",
		"Compare prices, and then the sizes": "Compare prices, and then",
		"Donaudampfschifffahrtsgesellschaft": "Donaudampfschifffahrtsges",
		"把这一页上所有的链接都保存到一个文本文件里然后再总结每一个页面的内容吧": "把这一页上所有的链接都保存到一个文本文件里然后再总",
		"  two\n lines ": "two lines",
	} {
		if got := engine.FirstRunes(text, 25); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
