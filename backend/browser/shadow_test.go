package browser_test

import (
	"strings"
	"testing"

	"gofer/backend/browser"
	"gofer/backend/browser/browsertest"
)

func TestClosedShadowRootsAreReadAndActedIn(t *testing.T) {
	s := browsertest.Page(t, `<x-card></x-card><div id=d style="height:40px"></div><script>
customElements.define('x-in',class extends HTMLElement{constructor(){super();this.attachShadow({mode:'closed'}).innerHTML='<button onclick="this.textContent=\'Pressed\'">Deep</button>'}});
customElements.define('x-card',class extends HTMLElement{constructor(){super();this.attachShadow({mode:'closed'}).innerHTML='<p>Card</p><x-in></x-in>'}});
d.attachShadow({mode:'closed'}).innerHTML='<button>Plain</button>'</script>`)
	got := snap(t, s, browser.Query{})
	for _, want := range []string{"- Card", `button "Deep" [ref=e`, `button "Plain" [ref=e`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	_, ref, _ := strings.Cut(got, `"Deep" [ref=`)
	ref, _, _ = strings.Cut(ref, "]")
	says(t, click(t, s, ref), "Pressed")
}
