export namespace chat {
	
	export class Artifact {
	    blob: string;
	    name: string;
	    media: string;
	    size: number;
	    width?: number;
	    height?: number;
	
	    static createFrom(source: any = {}) {
	        return new Artifact(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.blob = source["blob"];
	        this.name = source["name"];
	        this.media = source["media"];
	        this.size = source["size"];
	        this.width = source["width"];
	        this.height = source["height"];
	    }
	}
	export class Usage {
	    input: number;
	    output: number;
	    cached?: number;
	    reasoning?: number;
	    estimated?: boolean;
	    cost?: number;
	
	    static createFrom(source: any = {}) {
	        return new Usage(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.input = source["input"];
	        this.output = source["output"];
	        this.cached = source["cached"];
	        this.reasoning = source["reasoning"];
	        this.estimated = source["estimated"];
	        this.cost = source["cost"];
	    }
	}
	export class ToolResult {
	    callId: string;
	    name: string;
	    state: string;
	    title?: string;
	    text: string;
	    outcome?: string;
	    origin?: string;
	    artifacts?: Artifact[];
	    elapsedMs: number;
	
	    static createFrom(source: any = {}) {
	        return new ToolResult(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.callId = source["callId"];
	        this.name = source["name"];
	        this.state = source["state"];
	        this.title = source["title"];
	        this.text = source["text"];
	        this.outcome = source["outcome"];
	        this.origin = source["origin"];
	        this.artifacts = this.convertValues(source["artifacts"], Artifact);
	        this.elapsedMs = source["elapsedMs"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ToolCall {
	    id: string;
	    wireId?: string;
	    name: string;
	    arguments: number[];
	    invalid?: string;
	    raw?: string;
	    extra?: number[];
	
	    static createFrom(source: any = {}) {
	        return new ToolCall(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.wireId = source["wireId"];
	        this.name = source["name"];
	        this.arguments = source["arguments"];
	        this.invalid = source["invalid"];
	        this.raw = source["raw"];
	        this.extra = source["extra"];
	    }
	}
	export class Part {
	    type: string;
	    text?: string;
	    blob?: string;
	    media?: string;
	    name?: string;
	    width?: number;
	    height?: number;
	    size?: number;
	
	    static createFrom(source: any = {}) {
	        return new Part(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.type = source["type"];
	        this.text = source["text"];
	        this.blob = source["blob"];
	        this.media = source["media"];
	        this.name = source["name"];
	        this.width = source["width"];
	        this.height = source["height"];
	        this.size = source["size"];
	    }
	}
	export class Message {
	    id: string;
	    sessionId: string;
	    runId?: string;
	    seq: number;
	    role: string;
	    parts?: Part[];
	    calls?: ToolCall[];
	    result?: ToolResult;
	    model?: string;
	    finish?: string;
	    usage?: Usage;
	    replay?: number[];
	    createdAt: number;
	
	    static createFrom(source: any = {}) {
	        return new Message(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.sessionId = source["sessionId"];
	        this.runId = source["runId"];
	        this.seq = source["seq"];
	        this.role = source["role"];
	        this.parts = this.convertValues(source["parts"], Part);
	        this.calls = this.convertValues(source["calls"], ToolCall);
	        this.result = this.convertValues(source["result"], ToolResult);
	        this.model = source["model"];
	        this.finish = source["finish"];
	        this.usage = this.convertValues(source["usage"], Usage);
	        this.replay = source["replay"];
	        this.createdAt = source["createdAt"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class Prompt {
	    text: string;
	    mode?: string;
	    maxIterations?: number;
	
	    static createFrom(source: any = {}) {
	        return new Prompt(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.text = source["text"];
	        this.mode = source["mode"];
	        this.maxIterations = source["maxIterations"];
	    }
	}
	
	

}

export namespace config {
	
	export class Budget {
	    run?: number;
	    day?: number;
	
	    static createFrom(source: any = {}) {
	        return new Budget(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.run = source["run"];
	        this.day = source["day"];
	    }
	}
	export class Key {
	    id: string;
	    alias?: string;
	    expires?: number;
	
	    static createFrom(source: any = {}) {
	        return new Key(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.alias = source["alias"];
	        this.expires = source["expires"];
	    }
	}
	export class Leg {
	    provider: string;
	    model?: string;
	    weight?: number;
	    maxInput?: number;
	    maxOutput?: number;
	    vision?: boolean;
	    off?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new Leg(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.provider = source["provider"];
	        this.model = source["model"];
	        this.weight = source["weight"];
	        this.maxInput = source["maxInput"];
	        this.maxOutput = source["maxOutput"];
	        this.vision = source["vision"];
	        this.off = source["off"];
	    }
	}
	export class Limits {
	    connect?: number;
	    firstByte?: number;
	    silence?: number;
	    ceiling?: number;
	
	    static createFrom(source: any = {}) {
	        return new Limits(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.connect = source["connect"];
	        this.firstByte = source["firstByte"];
	        this.silence = source["silence"];
	        this.ceiling = source["ceiling"];
	    }
	}
	export class Model {
	    name: string;
	    input?: number;
	    output?: number;
	    vision?: boolean;
	    priceInput?: number;
	    priceOutput?: number;
	    priceCached?: number;
	    textCalls?: boolean;
	    tools?: string[];
	    temperature?: number;
	    thinking?: string;
	
	    static createFrom(source: any = {}) {
	        return new Model(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.input = source["input"];
	        this.output = source["output"];
	        this.vision = source["vision"];
	        this.priceInput = source["priceInput"];
	        this.priceOutput = source["priceOutput"];
	        this.priceCached = source["priceCached"];
	        this.textCalls = source["textCalls"];
	        this.tools = source["tools"];
	        this.temperature = source["temperature"];
	        this.thinking = source["thinking"];
	    }
	}
	export class Network {
	    proxy?: string;
	    caFile?: string;
	
	    static createFrom(source: any = {}) {
	        return new Network(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.proxy = source["proxy"];
	        this.caFile = source["caFile"];
	    }
	}
	export class Provider {
	    id: string;
	    preset: string;
	    name: string;
	    baseUrl: string;
	    model: string;
	    models?: string[];
	    known?: Model[];
	    keys?: Key[];
	    activeKey?: string;
	    limits: Limits;
	    profile?: Record<string, any>;
	    certificate?: string;
	
	    static createFrom(source: any = {}) {
	        return new Provider(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.preset = source["preset"];
	        this.name = source["name"];
	        this.baseUrl = source["baseUrl"];
	        this.model = source["model"];
	        this.models = source["models"];
	        this.known = this.convertValues(source["known"], Model);
	        this.keys = this.convertValues(source["keys"], Key);
	        this.activeKey = source["activeKey"];
	        this.limits = this.convertValues(source["limits"], Limits);
	        this.profile = source["profile"];
	        this.certificate = source["certificate"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Route {
	    id: string;
	    name: string;
	    legs: Leg[];
	
	    static createFrom(source: any = {}) {
	        return new Route(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.legs = this.convertValues(source["legs"], Leg);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Settings {
	    theme: string;
	    zoom: number;
	    mode: string;
	    computer?: string;
	    maxIterations: number;
	    concurrentRuns: number;
	    workspace: string;
	    browserPath: string;
	    browserAttach: string;
	    browserFilter: string;
	    systemPrompt: string;
	    defaultProvider: string;
	    providers: Provider[];
	    defaultRoute?: string;
	    routes?: Route[];
	    titles: string;
	    budget: Budget;
	    network: Network;
	
	    static createFrom(source: any = {}) {
	        return new Settings(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.theme = source["theme"];
	        this.zoom = source["zoom"];
	        this.mode = source["mode"];
	        this.computer = source["computer"];
	        this.maxIterations = source["maxIterations"];
	        this.concurrentRuns = source["concurrentRuns"];
	        this.workspace = source["workspace"];
	        this.browserPath = source["browserPath"];
	        this.browserAttach = source["browserAttach"];
	        this.browserFilter = source["browserFilter"];
	        this.systemPrompt = source["systemPrompt"];
	        this.defaultProvider = source["defaultProvider"];
	        this.providers = this.convertValues(source["providers"], Provider);
	        this.defaultRoute = source["defaultRoute"];
	        this.routes = this.convertValues(source["routes"], Route);
	        this.titles = source["titles"];
	        this.budget = this.convertValues(source["budget"], Budget);
	        this.network = this.convertValues(source["network"], Network);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}

}

export namespace engine {
	
	export class Agreed {
	    runId: string;
	    agreement: event.AgreementChanged;
	
	    static createFrom(source: any = {}) {
	        return new Agreed(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.runId = source["runId"];
	        this.agreement = this.convertValues(source["agreement"], event.AgreementChanged);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Answer {
	    text?: string;
	    decide?: boolean;
	    skip?: boolean;
	    dismiss?: boolean;
	    allow?: boolean;
	    scope?: string;
	    note?: string;
	    lines?: string[];
	    by?: string;
	
	    static createFrom(source: any = {}) {
	        return new Answer(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.text = source["text"];
	        this.decide = source["decide"];
	        this.skip = source["skip"];
	        this.dismiss = source["dismiss"];
	        this.allow = source["allow"];
	        this.scope = source["scope"];
	        this.note = source["note"];
	        this.lines = source["lines"];
	        this.by = source["by"];
	    }
	}
	export class Check {
	    what: string;
	    ok: boolean;
	    elapsedMs: number;
	    firstMs?: number;
	    text: string;
	    problem?: event.Problem;
	
	    static createFrom(source: any = {}) {
	        return new Check(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.what = source["what"];
	        this.ok = source["ok"];
	        this.elapsedMs = source["elapsedMs"];
	        this.firstMs = source["firstMs"];
	        this.text = source["text"];
	        this.problem = this.convertValues(source["problem"], event.Problem);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Endpoint {
	    baseUrl: string;
	    model: string;
	    key?: string;
	
	    static createFrom(source: any = {}) {
	        return new Endpoint(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.baseUrl = source["baseUrl"];
	        this.model = source["model"];
	        this.key = source["key"];
	    }
	}
	export class FileChange {
	    run: string;
	    call: string;
	    path: string;
	    did: string;
	    at: number;
	
	    static createFrom(source: any = {}) {
	        return new FileChange(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.run = source["run"];
	        this.call = source["call"];
	        this.path = source["path"];
	        this.did = source["did"];
	        this.at = source["at"];
	    }
	}
	export class GrantInfo {
	    id: string;
	    sessionId: string;
	    sessionTitle: string;
	    text: string;
	    words: string;
	    used: number;
	    at: number;
	
	    static createFrom(source: any = {}) {
	        return new GrantInfo(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.sessionId = source["sessionId"];
	        this.sessionTitle = source["sessionTitle"];
	        this.text = source["text"];
	        this.words = source["words"];
	        this.used = source["used"];
	        this.at = source["at"];
	    }
	}
	export class KeyInfo {
	    id: string;
	    alias?: string;
	    hint: string;
	    place: string;
	    expires?: number;
	    expired?: boolean;
	    active: boolean;
	
	    static createFrom(source: any = {}) {
	        return new KeyInfo(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.alias = source["alias"];
	        this.hint = source["hint"];
	        this.place = source["place"];
	        this.expires = source["expires"];
	        this.expired = source["expired"];
	        this.active = source["active"];
	    }
	}
	export class KeySpec {
	    provider: string;
	    id?: string;
	    alias?: string;
	    expires?: number;
	    key?: string;
	    active?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new KeySpec(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.provider = source["provider"];
	        this.id = source["id"];
	        this.alias = source["alias"];
	        this.expires = source["expires"];
	        this.key = source["key"];
	        this.active = source["active"];
	    }
	}
	export class LocalServer {
	    preset: string;
	    name: string;
	    baseUrl: string;
	    models: string[];
	    added: boolean;
	
	    static createFrom(source: any = {}) {
	        return new LocalServer(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.preset = source["preset"];
	        this.name = source["name"];
	        this.baseUrl = source["baseUrl"];
	        this.models = source["models"];
	        this.added = source["added"];
	    }
	}
	export class ModelInfo {
	    name: string;
	    input?: number;
	    output?: number;
	    vision: boolean;
	    priceInput?: number;
	    priceOutput?: number;
	    priceCached?: number;
	    own: config.Model;
	    learned?: string[];
	
	    static createFrom(source: any = {}) {
	        return new ModelInfo(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.input = source["input"];
	        this.output = source["output"];
	        this.vision = source["vision"];
	        this.priceInput = source["priceInput"];
	        this.priceOutput = source["priceOutput"];
	        this.priceCached = source["priceCached"];
	        this.own = this.convertValues(source["own"], config.Model);
	        this.learned = source["learned"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Note {
	    runId: string;
	    seq: number;
	    at: number;
	    notice?: event.Notice;
	    retrying?: event.RouteRetrying;
	    switched?: event.RouteSwitched;
	
	    static createFrom(source: any = {}) {
	        return new Note(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.runId = source["runId"];
	        this.seq = source["seq"];
	        this.at = source["at"];
	        this.notice = this.convertValues(source["notice"], event.Notice);
	        this.retrying = this.convertValues(source["retrying"], event.RouteRetrying);
	        this.switched = this.convertValues(source["switched"], event.RouteSwitched);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class OpenCall {
	    call: chat.ToolCall;
	    runId: string;
	    title?: string;
	    effect: string;
	    startedAt: number;
	
	    static createFrom(source: any = {}) {
	        return new OpenCall(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.call = this.convertValues(source["call"], chat.ToolCall);
	        this.runId = source["runId"];
	        this.title = source["title"];
	        this.effect = source["effect"];
	        this.startedAt = source["startedAt"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Partial {
	    runId: string;
	    messageId: string;
	    text: string;
	    reasoning: string;
	
	    static createFrom(source: any = {}) {
	        return new Partial(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.runId = source["runId"];
	        this.messageId = source["messageId"];
	        this.text = source["text"];
	        this.reasoning = source["reasoning"];
	    }
	}
	export class Preset {
	    id: string;
	    name: string;
	    baseUrl: string;
	    keyPage?: string;
	    local: boolean;
	    needsKey: boolean;
	    models?: string[];
	
	    static createFrom(source: any = {}) {
	        return new Preset(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.baseUrl = source["baseUrl"];
	        this.keyPage = source["keyPage"];
	        this.local = source["local"];
	        this.needsKey = source["needsKey"];
	        this.models = source["models"];
	    }
	}
	export class Provider {
	    id: string;
	    name: string;
	    preset: string;
	    baseUrl: string;
	    model: string;
	    models: string[];
	    local: boolean;
	    needsKey: boolean;
	    keyHint: string;
	    keyPlace: string;
	    keys?: KeyInfo[];
	    limits?: config.Limits;
	    profile?: Record<string, any>;
	    certificate?: string;
	    isDefault: boolean;
	
	    static createFrom(source: any = {}) {
	        return new Provider(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.preset = source["preset"];
	        this.baseUrl = source["baseUrl"];
	        this.model = source["model"];
	        this.models = source["models"];
	        this.local = source["local"];
	        this.needsKey = source["needsKey"];
	        this.keyHint = source["keyHint"];
	        this.keyPlace = source["keyPlace"];
	        this.keys = this.convertValues(source["keys"], KeyInfo);
	        this.limits = this.convertValues(source["limits"], config.Limits);
	        this.profile = source["profile"];
	        this.certificate = source["certificate"];
	        this.isDefault = source["isDefault"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ProviderSpec {
	    id?: string;
	    preset?: string;
	    name?: string;
	    baseUrl?: string;
	    model?: string;
	    key?: string;
	    limits?: config.Limits;
	    profile?: Record<string, any>;
	    certificate?: string;
	    default?: boolean;
	    quick?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ProviderSpec(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.preset = source["preset"];
	        this.name = source["name"];
	        this.baseUrl = source["baseUrl"];
	        this.model = source["model"];
	        this.key = source["key"];
	        this.limits = this.convertValues(source["limits"], config.Limits);
	        this.profile = source["profile"];
	        this.certificate = source["certificate"];
	        this.default = source["default"];
	        this.quick = source["quick"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ProviderTest {
	    ok: boolean;
	    elapsedMs: number;
	    answer?: string;
	    url: string;
	    model?: string;
	    models: string[];
	    checks?: Check[];
	    learned?: string[];
	    certificate?: string;
	    problem?: event.Problem;
	
	    static createFrom(source: any = {}) {
	        return new ProviderTest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.ok = source["ok"];
	        this.elapsedMs = source["elapsedMs"];
	        this.answer = source["answer"];
	        this.url = source["url"];
	        this.model = source["model"];
	        this.models = source["models"];
	        this.checks = this.convertValues(source["checks"], Check);
	        this.learned = source["learned"];
	        this.certificate = source["certificate"];
	        this.problem = this.convertValues(source["problem"], event.Problem);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Route {
	    id: string;
	    name: string;
	    legs: config.Leg[];
	    order?: string[];
	    isDefault: boolean;
	
	    static createFrom(source: any = {}) {
	        return new Route(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.legs = this.convertValues(source["legs"], config.Leg);
	        this.order = source["order"];
	        this.isDefault = source["isDefault"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class RouteSpec {
	    id?: string;
	    name: string;
	    legs: config.Leg[];
	    default?: boolean;
	    notDefault?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new RouteSpec(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.legs = this.convertValues(source["legs"], config.Leg);
	        this.default = source["default"];
	        this.notDefault = source["notDefault"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Run {
	    id: string;
	    sessionId: string;
	    promptId: string;
	    state: string;
	    reason?: string;
	    error?: event.Problem;
	    iteration: number;
	    maxIterations: number;
	    provider: string;
	    model: string;
	    mode: string;
	    calls: number;
	    usage: chat.Usage;
	    createdAt: number;
	    startedAt?: number;
	    finishedAt?: number;
	
	    static createFrom(source: any = {}) {
	        return new Run(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.sessionId = source["sessionId"];
	        this.promptId = source["promptId"];
	        this.state = source["state"];
	        this.reason = source["reason"];
	        this.error = this.convertValues(source["error"], event.Problem);
	        this.iteration = source["iteration"];
	        this.maxIterations = source["maxIterations"];
	        this.provider = source["provider"];
	        this.model = source["model"];
	        this.mode = source["mode"];
	        this.calls = source["calls"];
	        this.usage = this.convertValues(source["usage"], chat.Usage);
	        this.createdAt = source["createdAt"];
	        this.startedAt = source["startedAt"];
	        this.finishedAt = source["finishedAt"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Session {
	    id: string;
	    title: string;
	    autoTitle: boolean;
	    state: string;
	    reason?: string;
	    seen: boolean;
	    workspace: string;
	    mode: string;
	    provider: string;
	    model: string;
	    systemPrompt: string;
	    maxIterations: number;
	    headless: boolean;
	    tour: boolean;
	    createdAt: number;
	    updatedAt: number;
	    startedAt?: number;
	    match?: string;
	
	    static createFrom(source: any = {}) {
	        return new Session(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.title = source["title"];
	        this.autoTitle = source["autoTitle"];
	        this.state = source["state"];
	        this.reason = source["reason"];
	        this.seen = source["seen"];
	        this.workspace = source["workspace"];
	        this.mode = source["mode"];
	        this.provider = source["provider"];
	        this.model = source["model"];
	        this.systemPrompt = source["systemPrompt"];
	        this.maxIterations = source["maxIterations"];
	        this.headless = source["headless"];
	        this.tour = source["tour"];
	        this.createdAt = source["createdAt"];
	        this.updatedAt = source["updatedAt"];
	        this.startedAt = source["startedAt"];
	        this.match = source["match"];
	    }
	}
	export class SessionChange {
	    title?: string;
	    workspace?: string;
	    mode?: string;
	    provider?: string;
	    model?: string;
	    systemPrompt?: string;
	    maxIterations?: number;
	    seen?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new SessionChange(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.title = source["title"];
	        this.workspace = source["workspace"];
	        this.mode = source["mode"];
	        this.provider = source["provider"];
	        this.model = source["model"];
	        this.systemPrompt = source["systemPrompt"];
	        this.maxIterations = source["maxIterations"];
	        this.seen = source["seen"];
	    }
	}
	export class SessionQuery {
	    search: string;
	    limit: number;
	    offset: number;
	
	    static createFrom(source: any = {}) {
	        return new SessionQuery(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.search = source["search"];
	        this.limit = source["limit"];
	        this.offset = source["offset"];
	    }
	}
	export class SessionSpec {
	    title?: string;
	    workspace?: string;
	    mode?: string;
	    provider?: string;
	    model?: string;
	    systemPrompt?: string;
	    maxIterations?: number;
	    headless?: boolean;
	    tour?: boolean;
	    allow?: string[];
	    endpoint?: Endpoint;
	
	    static createFrom(source: any = {}) {
	        return new SessionSpec(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.title = source["title"];
	        this.workspace = source["workspace"];
	        this.mode = source["mode"];
	        this.provider = source["provider"];
	        this.model = source["model"];
	        this.systemPrompt = source["systemPrompt"];
	        this.maxIterations = source["maxIterations"];
	        this.headless = source["headless"];
	        this.tour = source["tour"];
	        this.allow = source["allow"];
	        this.endpoint = this.convertValues(source["endpoint"], Endpoint);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Wait {
	    runId: string;
	    since: number;
	    question?: event.ClarificationAsked;
	    approval?: event.ApprovalAsked;
	    agreement?: event.AgreementAsked;
	
	    static createFrom(source: any = {}) {
	        return new Wait(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.runId = source["runId"];
	        this.since = source["since"];
	        this.question = this.convertValues(source["question"], event.ClarificationAsked);
	        this.approval = this.convertValues(source["approval"], event.ApprovalAsked);
	        this.agreement = this.convertValues(source["agreement"], event.AgreementAsked);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Snapshot {
	    session: Session;
	    seq: number;
	    messages: chat.Message[];
	    runs: Run[];
	    more: boolean;
	    notes: Note[];
	    agreed: Agreed[];
	    open: OpenCall[];
	    waits: Wait[];
	    status: event.Status;
	    partial?: Partial;
	    page: event.BrowserChanged;
	
	    static createFrom(source: any = {}) {
	        return new Snapshot(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.session = this.convertValues(source["session"], Session);
	        this.seq = source["seq"];
	        this.messages = this.convertValues(source["messages"], chat.Message);
	        this.runs = this.convertValues(source["runs"], Run);
	        this.more = source["more"];
	        this.notes = this.convertValues(source["notes"], Note);
	        this.agreed = this.convertValues(source["agreed"], Agreed);
	        this.open = this.convertValues(source["open"], OpenCall);
	        this.waits = this.convertValues(source["waits"], Wait);
	        this.status = this.convertValues(source["status"], event.Status);
	        this.partial = this.convertValues(source["partial"], Partial);
	        this.page = this.convertValues(source["page"], event.BrowserChanged);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class SnapshotQuery {
	    before: number;
	    limit: number;
	
	    static createFrom(source: any = {}) {
	        return new SnapshotQuery(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.before = source["before"];
	        this.limit = source["limit"];
	    }
	}
	export class UndoneFile {
	    path: string;
	    did: string;
	    problem?: string;
	
	    static createFrom(source: any = {}) {
	        return new UndoneFile(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.did = source["did"];
	        this.problem = source["problem"];
	    }
	}
	export class Undone {
	    files: UndoneFile[];
	    commands?: string[];
	
	    static createFrom(source: any = {}) {
	        return new Undone(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.files = this.convertValues(source["files"], UndoneFile);
	        this.commands = source["commands"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class UsageOf {
	    name: string;
	    usage: chat.Usage;
	    replies: number;
	
	    static createFrom(source: any = {}) {
	        return new UsageOf(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.usage = this.convertValues(source["usage"], chat.Usage);
	        this.replies = source["replies"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class UsageReport {
	    total: chat.Usage;
	    days: UsageOf[];
	    models: UsageOf[];
	    budgetRun?: number;
	    budgetDay?: number;
	
	    static createFrom(source: any = {}) {
	        return new UsageReport(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.total = this.convertValues(source["total"], chat.Usage);
	        this.days = this.convertValues(source["days"], UsageOf);
	        this.models = this.convertValues(source["models"], UsageOf);
	        this.budgetRun = source["budgetRun"];
	        this.budgetDay = source["budgetDay"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}

}

export namespace event {
	
	export class AgreementLine {
	    id: string;
	    class: string;
	    object: string;
	    words: string;
	    used?: number;
	    added?: boolean;
	    revoked?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new AgreementLine(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.class = source["class"];
	        this.object = source["object"];
	        this.words = source["words"];
	        this.used = source["used"];
	        this.added = source["added"];
	        this.revoked = source["revoked"];
	    }
	}
	export class AgreementAsked {
	    id: string;
	    callId?: string;
	    goal: string;
	    lines: AgreementLine[];
	    spend?: number;
	    iterations?: number;
	    missing?: string;
	    why?: string;
	
	    static createFrom(source: any = {}) {
	        return new AgreementAsked(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.callId = source["callId"];
	        this.goal = source["goal"];
	        this.lines = this.convertValues(source["lines"], AgreementLine);
	        this.spend = source["spend"];
	        this.iterations = source["iterations"];
	        this.missing = source["missing"];
	        this.why = source["why"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class AgreementChanged {
	    goal: string;
	    lines: AgreementLine[];
	    spend?: number;
	    iterations?: number;
	    over?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new AgreementChanged(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.goal = source["goal"];
	        this.lines = this.convertValues(source["lines"], AgreementLine);
	        this.spend = source["spend"];
	        this.iterations = source["iterations"];
	        this.over = source["over"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class DeedField {
	    label: string;
	    value?: string;
	    secret?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new DeedField(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.label = source["label"];
	        this.value = source["value"];
	        this.secret = source["secret"];
	    }
	}
	export class Deed {
	    class: string;
	    object: string;
	    detail?: string;
	    text?: string;
	    fields?: DeedField[];
	
	    static createFrom(source: any = {}) {
	        return new Deed(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.class = source["class"];
	        this.object = source["object"];
	        this.detail = source["detail"];
	        this.text = source["text"];
	        this.fields = this.convertValues(source["fields"], DeedField);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ApprovalAsked {
	    id: string;
	    callId: string;
	    tool: string;
	    args: number[];
	    deeds: Deed[];
	    session?: string;
	    missing?: string;
	    why?: string;
	    extend?: string;
	    client?: string;
	
	    static createFrom(source: any = {}) {
	        return new ApprovalAsked(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.callId = source["callId"];
	        this.tool = source["tool"];
	        this.args = source["args"];
	        this.deeds = this.convertValues(source["deeds"], Deed);
	        this.session = source["session"];
	        this.missing = source["missing"];
	        this.why = source["why"];
	        this.extend = source["extend"];
	        this.client = source["client"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class BrowserChanged {
	    url: string;
	    title: string;
	    open: boolean;
	
	    static createFrom(source: any = {}) {
	        return new BrowserChanged(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.url = source["url"];
	        this.title = source["title"];
	        this.open = source["open"];
	    }
	}
	export class Option {
	    label: string;
	    value: string;
	
	    static createFrom(source: any = {}) {
	        return new Option(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.label = source["label"];
	        this.value = source["value"];
	    }
	}
	export class Question {
	    kind: string;
	    title: string;
	    why?: string;
	    options?: Option[];
	    default?: string;
	    waitMs?: number;
	
	    static createFrom(source: any = {}) {
	        return new Question(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.kind = source["kind"];
	        this.title = source["title"];
	        this.why = source["why"];
	        this.options = this.convertValues(source["options"], Option);
	        this.default = source["default"];
	        this.waitMs = source["waitMs"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ClarificationAsked {
	    id: string;
	    callId?: string;
	    question: Question;
	
	    static createFrom(source: any = {}) {
	        return new ClarificationAsked(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.callId = source["callId"];
	        this.question = this.convertValues(source["question"], Question);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	export class Notice {
	    text: string;
	
	    static createFrom(source: any = {}) {
	        return new Notice(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.text = source["text"];
	    }
	}
	
	export class Reason {
	    model: string;
	    code: string;
	    message: string;
	    hint?: string;
	
	    static createFrom(source: any = {}) {
	        return new Reason(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.model = source["model"];
	        this.code = source["code"];
	        this.message = source["message"];
	        this.hint = source["hint"];
	    }
	}
	export class Problem {
	    code: string;
	    message: string;
	    hint?: string;
	    reasons?: Reason[];
	
	    static createFrom(source: any = {}) {
	        return new Problem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.code = source["code"];
	        this.message = source["message"];
	        this.hint = source["hint"];
	        this.reasons = this.convertValues(source["reasons"], Reason);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	export class RouteRetrying {
	    attempt: number;
	    waitMs: number;
	    kind: string;
	    reason: string;
	
	    static createFrom(source: any = {}) {
	        return new RouteRetrying(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.attempt = source["attempt"];
	        this.waitMs = source["waitMs"];
	        this.kind = source["kind"];
	        this.reason = source["reason"];
	    }
	}
	export class RouteSwitched {
	    from: string;
	    to: string;
	    provider: string;
	    model: string;
	    kind?: string;
	    reason: string;
	
	    static createFrom(source: any = {}) {
	        return new RouteSwitched(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.from = source["from"];
	        this.to = source["to"];
	        this.provider = source["provider"];
	        this.model = source["model"];
	        this.kind = source["kind"];
	        this.reason = source["reason"];
	    }
	}
	export class Status {
	    state: string;
	    runId?: string;
	    iteration: number;
	    maxIterations: number;
	    currentTool?: string;
	    lastMessage?: string;
	    error?: Problem;
	    since?: number;
	
	    static createFrom(source: any = {}) {
	        return new Status(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.state = source["state"];
	        this.runId = source["runId"];
	        this.iteration = source["iteration"];
	        this.maxIterations = source["maxIterations"];
	        this.currentTool = source["currentTool"];
	        this.lastMessage = source["lastMessage"];
	        this.error = this.convertValues(source["error"], Problem);
	        this.since = source["since"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}

}

