package preset

import (
	"strings"

	"gofer/backend/llm"
)

// model is a line about a known model: how much a request may hold, its longest
// reply (0 where only the window bounds it), and what a million tokens cost in US
// dollars, at list price for requests of ordinary length. The lines are those of
// July 2026, after models.dev. Prices move; the person's own numbers count
// before these.
func model(name string, input, output int, vision bool, price ...float64) llm.Facts {
	f := llm.Facts{Name: name, Input: input, Output: output, Vision: vision}
	if len(price) == 3 {
		f.Price = &llm.Price{Input: price[0], Output: price[1], Cached: price[2]}
	}
	return f
}

var (
	openaiModels = []llm.Facts{
		model("gpt-5.4", 922_000, 128_000, true, 2.5, 15, 0.25),
		model("gpt-5.5", 922_000, 128_000, true, 5, 30, 0.5),
		model("gpt-5.4-mini", 272_000, 128_000, true, 0.75, 4.5, 0.075),
		model("gpt-5.4-nano", 272_000, 128_000, true, 0.2, 1.25, 0.02),
		model("gpt-5.2", 272_000, 128_000, true, 1.75, 14, 0.175),
		model("gpt-5.1", 272_000, 128_000, true, 1.25, 10, 0.125),
		model("gpt-5", 272_000, 128_000, true, 1.25, 10, 0.125),
		model("gpt-5-mini", 272_000, 128_000, true, 0.25, 2, 0.025),
		model("gpt-4.1", 1_047_576, 32_768, true, 2, 8, 0.5),
		model("gpt-4.1-mini", 1_047_576, 32_768, true, 0.4, 1.6, 0.1),
	}
	anthropicModels = []llm.Facts{
		model("claude-sonnet-5", 1_000_000, 128_000, true, 2, 10, 0.2),
		model("claude-opus-4-8", 1_000_000, 128_000, true, 5, 25, 0.5),
		model("claude-haiku-4-5", 200_000, 64_000, true, 1, 5, 0.1),
		model("claude-sonnet-4-6", 1_000_000, 64_000, true, 3, 15, 0.3),
		model("claude-sonnet-4-5", 200_000, 64_000, true, 3, 15, 0.3),
		model("claude-opus-4-5", 200_000, 64_000, true, 5, 25, 0.5),
	}
	geminiModels = []llm.Facts{
		model("gemini-3.5-flash", 1_048_576, 65_536, true, 1.5, 9, 0.15),
		model("gemini-3.1-pro-preview", 1_048_576, 65_536, true, 2, 12, 0.2),
		model("gemini-3.1-flash-lite", 1_048_576, 65_536, true, 0.25, 1.5, 0.025),
		model("gemini-2.5-pro", 1_048_576, 65_536, true, 1.25, 10, 0.125),
		model("gemini-2.5-flash", 1_048_576, 65_536, true, 0.3, 2.5, 0.03),
		model("gemini-2.5-flash-lite", 1_048_576, 65_536, true, 0.1, 0.4, 0.01),
	}
	deepseekModels = []llm.Facts{
		model("deepseek-v4-flash", 1_000_000, 384_000, false, 0.14, 0.28, 0.0028),
		model("deepseek-v4-pro", 1_000_000, 384_000, false, 0.435, 0.87, 0.003625),
		model("deepseek-chat", 1_000_000, 384_000, false, 0.14, 0.28, 0.0028),
		model("deepseek-reasoner", 1_000_000, 384_000, false, 0.14, 0.28, 0.0028),
	}
	mistralModels = []llm.Facts{
		model("mistral-large-latest", 262_144, 0, true, 0.5, 1.5, 0.5),
		model("mistral-medium-latest", 262_144, 0, true, 0.4, 2, 0.4),
		model("mistral-small-latest", 256_000, 0, true, 0.15, 0.6, 0.15),
	}
	groqModels = []llm.Facts{
		model("openai/gpt-oss-120b", 131_072, 65_536, false, 0.15, 0.6, 0.075),
		model("openai/gpt-oss-20b", 131_072, 65_536, false, 0.075, 0.3, 0.0375),
		model("llama-3.3-70b-versatile", 131_072, 32_768, false, 0.59, 0.79, 0.59),
	}
	xaiModels = []llm.Facts{
		model("grok-4.3", 1_000_000, 30_000, true, 1.25, 2.5, 0.2),
		model("grok-4.20", 1_000_000, 30_000, true, 1.25, 2.5, 0.2),
		model("grok-build-0.1", 256_000, 0, true, 1, 2, 0.2),
	}
	moonshotModels = []llm.Facts{
		model("kimi-k2.7-code", 262_144, 0, true, 0.95, 4, 0.19),
		model("kimi-k2.6", 262_144, 0, true, 0.95, 4, 0.16),
		model("kimi-k2.5", 262_144, 0, true, 0.6, 3, 0.1),
		model("kimi-k2-thinking", 262_144, 0, false, 0.6, 2.5, 0.15),
	}
	dashscopeModels = []llm.Facts{
		model("qwen3.7-plus", 1_000_000, 65_536, true, 0.5, 3, 0.05),
		model("qwen3.7-max", 1_000_000, 65_536, false, 2.5, 7.5, 0.5),
		model("qwen3.6-flash", 1_000_000, 65_536, true, 0.1875, 1.125, 0.1875),
		model("qwen3-max", 262_144, 65_536, false, 1.2, 6, 1.2),
		model("qwen-plus", 1_000_000, 32_768, false, 0.4, 1.2, 0.4),
	}
	glmModels = []llm.Facts{
		model("glm-5.2", 1_000_000, 131_072, false, 1.4, 4.4, 0.26),
		model("glm-5.1", 200_000, 131_072, false, 1.4, 4.4, 0.26),
		model("glm-5v-turbo", 200_000, 131_072, true, 1.2, 4, 0.24),
		model("glm-4.7", 204_800, 131_072, false, 0.6, 2.2, 0.11),
		model("glm-4.5-air", 131_072, 98_304, false, 0.2, 1.1, 0.03),
	}
)

// seeing are parts of the names of models that see pictures.
var seeing = []string{
	"gpt-4o", "gpt-4.1", "gpt-5", "o3", "o4-mini", "claude", "gemini", "gemma-3", "gemma3", "gemma-4", "gemma4", "grok-4", "pixtral", "mistral-large", "mistral-medium", "mistral-small", "llama-4", "llama4",
	"llava", "vision", "-vl", "vl-", "qwen2.5vl", "qwen3-vl", "qwen3.5", "qwen3.6", "kimi-k2.5", "kimi-k2.6", "kimi-k2.7", "glm-4.5v", "glm-4.6v", "glm-5v", "minicpm-v", "internvl", "moondream",
}

// Facts returns what is known of a model of this provider. Names are also known
// with a date behind them; with a variant behind them, or a maker before them,
// the price is not: variants and resellers have their own.
func (p Preset) Facts(name string) llm.Facts {
	if f, ok := longest(p.Models, name); ok {
		if rest := name[len(f.Name):]; rest != "" && !dated(rest) {
			f.Price = nil
		}
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

// dated reports whether what stands behind a model's name only says which
// edition it is.
func dated(rest string) bool {
	return rest == "-latest" || len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9'
}
