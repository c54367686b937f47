// Package preset holds the built-in descriptions of providers: where they are,
// where a key comes from, and what is special about them. A preset is data; to
// add one, add an entry to the table.
package preset

import "gofer/backend/llm"

// Preset describes a provider an account can start from.
type Preset struct {
	ID       string
	Name     string
	BaseURL  string // may hold a {placeholder} the person fills in
	KeyPage  string // where a key is made; empty for local servers
	NeedsKey bool
	Local    bool  // runs on this machine: longer limits, found by FindLocal
	Ports    []int // of local servers
	Models   []llm.Facts
	Profile  llm.Profile
}

// Limits returns how long a call may take by default.
func (p Preset) Limits() llm.Limits {
	if p.Local {
		return llm.LocalLimits()
	}
	return llm.DefaultLimits()
}

// Custom is the id of the preset for a server nobody knows.
const Custom = "custom"

// All returns the presets in the order in which they are offered.
func All() []Preset { return table }

// Get finds a preset; an unknown id gives the one for custom servers.
func Get(id string) (p Preset, ok bool) {
	for _, p := range table {
		if p.ID == id {
			return p, true
		}
	}
	p, _ = Get(Custom)
	return p, false
}

var table = []Preset{
	{
		ID: "openai", Name: "OpenAI", BaseURL: "https://api.openai.com/v1", KeyPage: "https://platform.openai.com/api-keys",
		NeedsKey: true, Models: openaiModels,
		Profile: llm.Profile{LateSystem: true, MaxTokensField: "max_completion_tokens"},
	},
	{
		ID: "anthropic", Name: "Anthropic", BaseURL: "https://api.anthropic.com/v1", KeyPage: "https://console.anthropic.com/settings/keys",
		NeedsKey: true, Models: anthropicModels,
	},
	{
		ID: "gemini", Name: "Google Gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyPage: "https://aistudio.google.com/apikey",
		NeedsKey: true, Models: geminiModels,
		Profile: llm.Profile{Schema: llm.PlainSchema, Signatures: true},
	},
	{
		ID: "openrouter", Name: "OpenRouter", BaseURL: "https://openrouter.ai/api/v1", KeyPage: "https://openrouter.ai/settings/keys",
		NeedsKey: true, Models: []llm.Facts{model("openrouter/auto", 0, 0, true)},
		Profile: llm.Profile{ReasoningEcho: llm.EchoDetails, Thinking: llm.ThinkingNested},
	},
	{
		ID: "deepseek", Name: "DeepSeek", BaseURL: "https://api.deepseek.com/v1", KeyPage: "https://platform.deepseek.com/api_keys",
		NeedsKey: true, Models: deepseekModels,
		Profile: llm.Profile{ReasoningEcho: llm.EchoContent, LateSystem: true, Thinking: llm.ThinkingObject},
	},
	{
		ID: "mistral", Name: "Mistral", BaseURL: "https://api.mistral.ai/v1", KeyPage: "https://console.mistral.ai/api-keys",
		NeedsKey: true, Models: mistralModels,
		Profile: llm.Profile{ToolIDStyle: llm.IDAlnum9, BridgeAfterTool: true, StrictRoles: true, NoStreamOptions: true},
	},
	{
		ID: "groq", Name: "Groq", BaseURL: "https://api.groq.com/openai/v1", KeyPage: "https://console.groq.com/keys",
		NeedsKey: true, Models: groqModels,
	},
	{
		ID: "xai", Name: "xAI", BaseURL: "https://api.x.ai/v1", KeyPage: "https://console.x.ai",
		NeedsKey: true, Models: xaiModels,
	},
	{
		ID: "moonshot", Name: "Moonshot (Kimi)", BaseURL: "https://api.moonshot.ai/v1", KeyPage: "https://platform.moonshot.ai/console/api-keys",
		NeedsKey: true, Models: moonshotModels,
		Profile: llm.Profile{ReasoningEcho: llm.EchoContent, Thinking: llm.ThinkingObject},
	},
	{
		ID: "dashscope", Name: "Alibaba DashScope (Qwen)", BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", KeyPage: "https://bailian.console.alibabacloud.com/?apiKey=1",
		NeedsKey: true, Models: dashscopeModels,
		Profile: llm.Profile{Thinking: llm.ThinkingSwitch},
	},
	{
		ID: "bigmodel", Name: "BigModel (GLM)", BaseURL: "https://open.bigmodel.cn/api/paas/v4", KeyPage: "https://open.bigmodel.cn/usercenter/apikeys",
		NeedsKey: true, Models: glmModels,
		Profile: llm.Profile{ReasoningEcho: llm.EchoContent, Thinking: llm.ThinkingObject},
	},
	{
		ID: "zai", Name: "Z.ai", BaseURL: "https://api.z.ai/api/paas/v4", KeyPage: "https://z.ai/manage-apikey/apikey-list",
		NeedsKey: true, Models: glmModels,
		Profile: llm.Profile{ReasoningEcho: llm.EchoContent, Thinking: llm.ThinkingObject},
	},
	{
		ID: "azure", Name: "Azure OpenAI", BaseURL: "https://{resource}.openai.azure.com/openai/v1", KeyPage: "https://ai.azure.com",
		NeedsKey: true,
		Profile:  llm.Profile{LateSystem: true, MaxTokensField: "max_completion_tokens", KeyHeader: "api-key"},
	},
	{
		ID: "quickrouter", Name: "QuickRouter", BaseURL: "https://api.quickrouter.ai/v1", KeyPage: "https://quickrouter.ai",
		NeedsKey: true,
	},
	{
		ID: "orcarouter", Name: "OrcaRouter", BaseURL: "https://api.orcarouter.ai/v1", KeyPage: "https://www.orcarouter.ai/keys",
		NeedsKey: true, Models: []llm.Facts{model("orcarouter/auto", 0, 0, true)},
	},
	{
		ID: "litellm", Name: "LiteLLM", BaseURL: "http://127.0.0.1:4000/v1",
		Ports: []int{4000},
	},
	{
		ID: "ollama", Name: "Ollama", BaseURL: "http://127.0.0.1:11434/v1", Local: true, Ports: []int{11434},
		Profile: llm.Profile{ReasoningEcho: llm.EchoPlain},
	},
	{
		ID: "lmstudio", Name: "LM Studio", BaseURL: "http://127.0.0.1:1234/v1", Local: true, Ports: []int{1234},
		Profile: llm.Profile{StrictRoles: true},
	},
	{
		ID: "llamacpp", Name: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1", Local: true, Ports: []int{8080},
		Profile: llm.Profile{StrictRoles: true},
	},
	{
		ID: "vllm", Name: "vLLM", BaseURL: "http://127.0.0.1:8000/v1", Local: true, Ports: []int{8000},
		Profile: llm.Profile{StrictRoles: true, ReasoningEcho: llm.EchoPlain},
	},
	{ID: Custom, Name: "Another server", BaseURL: ""},
}
