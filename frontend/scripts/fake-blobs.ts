import type { Plugin } from 'vite'

/**
 * Answers /blob/… on the dev server with a drawn page, so that the window can
 * be looked at in a plain browser without the program behind it.
 */
export function fakeBlobs(): Plugin {
  return {
    name: 'fake-blobs',
    apply: 'serve',
    configureServer(server) {
      server.middlewares.use('/blob', (_, answer) => {
        answer.setHeader('Content-Type', 'image/svg+xml')
        answer.end(picture)
      })
    },
  }
}

const shelf = [200, 270, 340, 410]
  .map((y) => `<rect x="150" y="${y}" width="180" height="14" rx="2" fill="#A8794A"/>`)
  .join('')

const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1080 720" width="1080" height="720" font-family="sans-serif">
<rect width="1080" height="720" fill="#FDFDFC"/><rect width="1080" height="78" fill="#2F4A3F"/>
<text x="42" y="48" fill="#fff" font-size="24" font-weight="600">shop.example.org</text>
<text x="300" y="48" fill="#fff" font-size="21" opacity=".85">Shelves   Tables   Chairs</text>
<rect x="42" y="120" width="400" height="510" rx="10" fill="#E4DCCF"/><rect x="140" y="170" width="14" height="400" fill="#8F643A"/><rect x="326" y="170" width="14" height="400" fill="#8F643A"/>${shelf}
<text x="500" y="160" fill="#23262B" font-size="36" font-weight="600">Oak shelf 120</text>
<text x="500" y="205" fill="#6A706C" font-size="22">Solid oak, oiled · 120 × 180 × 32 cm</text>
<text x="500" y="270" fill="#23262B" font-size="34" font-weight="600">349.00</text>
<text x="500" y="320" fill="#23262B" font-size="22">Postcode</text>
<rect x="500" y="336" width="170" height="54" rx="8" fill="#fff" stroke="#A9B0AC"/><text x="520" y="370" fill="#23262B" font-size="22">8001</text>
<rect x="684" y="336" width="210" height="54" rx="8" fill="#2F4A3F"/><text x="712" y="370" fill="#fff" font-size="22" font-weight="600">Check delivery</text>
<text x="500" y="436" fill="#1B6B3C" font-size="22" font-weight="600">Delivery to 8001 in 6 days, 29.00</text>
</svg>`
