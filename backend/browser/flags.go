package browser

import (
	"runtime"
	"strings"
)

// disabledFeatures are switched off in one list, since the flag counts once.
// DeferRendererTasksAfterInput holds every task after a click until the next
// frame; RenderDocument makes navigation slower; the popups of the address bar
// are pages that every new window would load before the one that is wanted; the
// rest speaks to servers or puts things in front of the page.
var disabledFeatures = []string{
	"DeferRendererTasksAfterInput", "RenderDocument", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "Translate", "MediaRouter", "OptimizationHints",
	"OptimizationGuideModelDownloading", "OptimizationTargetPrediction", "InterestFeedContentSuggestions",
	"CertificateTransparencyComponentUpdater", "AutofillServerCommunication", "CalculateNativeWinOcclusion",
	"AcceptCHFrame", "GlobalMediaControls", "ImprovedCookieControls", "LensOverlay", "PrivacySandboxSettings4",
	"SidePanelPinning", "ChromeWhatsNewUI", "HttpsUpgrades", "NetworkTimeServiceQuerying",
}

// flags is our own list: site isolation and the safety features of the browser
// stay on; what talks to update and report servers by itself is off.
func flags(o Options, root bool) []string {
	list := []string{
		"--user-data-dir=" + o.Profile,
		"--no-first-run",
		"--no-default-browser-check",
		"--no-startup-window",
		"--hide-crash-restore-bubble",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-component-extensions-with-background-pages",
		"--disable-default-apps",
		"--disable-domain-reliability",
		"--disable-field-trial-config",
		"--disable-sync",
		"--disable-breakpad",
		"--disable-client-side-phishing-detection",
		"--disable-search-engine-choice-screen",
		"--metrics-recording-only",
		"--no-pings",
		"--no-service-autorun",
		"--disable-backgrounding-occluded-windows",
		"--disable-background-timer-throttling",
		"--disable-renderer-backgrounding",
		"--allow-pre-commit-input", // a click on a page not yet painted counts
		"--disable-quic",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--password-store=basic",
		"--site-per-process",
		"--disable-features=" + strings.Join(disabledFeatures, ","),
	}
	if o.Headless {
		list = append(list, "--headless=new", "--hide-scrollbars", "--mute-audio", "--window-size=1280,800")
	} else {
		list = append(list, "--window-size=1280,900")
	}
	if root {
		list = append(list, "--no-sandbox", "--test-type") // test-type hides the warning bar about it
	}
	if runtime.GOOS == "linux" {
		list = append(list, "--disable-dev-shm-usage")
	}
	if o.Proxy != "" {
		// The proxy asks for names; nothing else here may, since a name can carry data.
		list = append(list, "--proxy-server=http://"+o.Proxy, "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
	}
	return append(list, o.Flags...)
}
