package preset

import (
	"strings"

	"gofer/backend/llm"
)

// model is a line about a known model: its window, its longest reply, and what
// a million tokens cost in US dollars. Prices move; the person's own numbers
// count before these.
func model(name string, input, output int, vision bool, price ...float64) llm.Facts {
	f := llm.Facts{Name: name, Input: input, Output: output, Vision: vision}
	if len(price) == 3 {
		f.Price = &llm.Price{Input: price[0], Output: price[1], Cached: price[2]}
	}
	return f
}

var (
	openaiModels = []llm.Facts{
		model("gpt-5.1", 400_000, 128_000, true, 1.25, 10, 0.125),
		model("gpt-5-mini", 400_000, 128_000, true, 0.25, 2, 0.025),
		model("gpt-4.1", 1_047_576, 32_768, true, 2, 8, 0.5),
	}
	anthropicModels = []llm.Facts{
		model("claude-sonnet-4-5", 200_000, 64_000, true, 3, 15, 0.3),
		model("claude-haiku-4-5", 200_000, 64_000, true, 1, 5, 0.1),
		model("claude-opus-4-5", 200_000, 64_000, true, 5, 25, 0.5),
	}
	geminiModels = []llm.Facts{
		model("gemini-2.5-pro", 1_048_576, 65_536, true, 1.25, 10, 0.125),
		model("gemini-2.5-flash", 1_048_576, 65_536, true, 0.3, 2.5, 0.03),
	}
	deepseekModels = []llm.Facts{
		model("deepseek-chat", 128_000, 8_000, false, 0.28, 0.42, 0.028),
		model("deepseek-reasoner", 128_000, 64_000, false, 0.28, 0.42, 0.028),
	}
	mistralModels = []llm.Facts{
		model("mistral-large-latest", 262_144, 0, true, 0.5, 1.5, 0.5),
		model("mistral-medium-latest", 131_072, 0, true, 0.4, 2, 0.4),
	}
	groqModels = []llm.Facts{
		model("openai/gpt-oss-120b", 131_072, 65_536, false, 0.15, 0.6, 0.075),
		model("llama-3.3-70b-versatile", 131_072, 32_768, false, 0.59, 0.79, 0.59),
	}
	xaiModels = []llm.Facts{
		model("grok-4", 256_000, 0, true, 3, 15, 0.75),
		model("grok-4-fast", 2_000_000, 0, true, 0.2, 0.5, 0.05),
	}
	moonshotModels = []llm.Facts{
		model("kimi-k2-thinking", 262_144, 0, false, 0.6, 2.5, 0.15),
		model("kimi-k2-turbo-preview", 262_144, 0, false, 1.15, 8, 0.15),
	}
	dashscopeModels = []llm.Facts{
		model("qwen3-max", 262_144, 65_536, false, 1.2, 6, 0.24),
		model("qwen-plus", 1_000_000, 32_768, false, 0.4, 1.2, 0.08),
	}
	glmModels = []llm.Facts{
		model("glm-4.6", 200_000, 128_000, false, 0.6, 2.2, 0.11),
		model("glm-4.5-air", 128_000, 96_000, false, 0.2, 1.1, 0.03),
	}
)

// seeing are parts of the names of models that see pictures.
var seeing = []string{
	"gpt-4o", "gpt-4.1", "gpt-5", "o3", "o4-mini", "claude", "gemini", "gemma-3", "gemma3", "grok-4", "pixtral", "mistral-medium", "mistral-small", "llama-4", "llama4",
	"llava", "vision", "-vl", "vl-", "qwen2.5vl", "qwen3-vl", "glm-4.5v", "glm-4.6v", "minicpm-v", "internvl", "moondream",
}

// Facts returns what is known of a model of this provider. Names are also
// known with a date or a variant behind them, and with a maker before them;
// then the price is not, since resellers set their own.
func (p Preset) Facts(name string) llm.Facts {
	if f, ok := longest(p.Models, name); ok {
		f.Name = name
		return f
	}
	_, base, found := strings.Cut(name, "/")
	if !found {
		base = name
	}
	for _, other := range table {
		if f, ok := longest(other.Models, base); ok {
			f.Name, f.Price = name, nil
			return f
		}
	}
	f := llm.Facts{Name: name}
	lower := strings.ToLower(base)
	for _, part := range seeing {
		f.Vision = f.Vision || strings.Contains(lower, part)
	}
	return f
}

// longest finds the known model whose name is name, or the longest before a
// mark in it.
func longest(list []llm.Facts, name string) (llm.Facts, bool) {
	best := llm.Facts{}
	for _, f := range list {
		rest, ok := strings.CutPrefix(name, f.Name)
		if ok && (rest == "" || strings.ContainsRune("-:@", rune(rest[0]))) && len(f.Name) > len(best.Name) {
			best = f
		}
	}
	return best, best.Name != ""
}
