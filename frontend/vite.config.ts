import { svelte } from '@sveltejs/vite-plugin-svelte'
import tailwindcss from '@tailwindcss/vite'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { fakeBlobs } from './scripts/fake-blobs.ts'

// The same words as in assets.go: the built page carries them itself, in case
// it is ever served by something else. The dev server needs inline scripts and
// a socket, so it goes without.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'"

const strictPolicy: Plugin = {
  name: 'strict-policy',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
      injectTo: 'head-prepend',
    },
  ],
}

export default defineConfig(({ mode }) => ({
  plugins: [tailwindcss(), svelte(), strictPolicy, fakeBlobs()],
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  build: { target: ['safari16.4', 'chrome111'], emptyOutDir: true, chunkSizeWarningLimit: 900 },
  server: { fs: { allow: ['..'] } },
  test: {
    environment: 'jsdom',
    setupFiles: ['./src/testing/setup.ts'],
    include: ['src/**/*.test.ts'],
    // Whole screens with axe take their time on a busy machine.
    testTimeout: 30_000,
  },
}))
