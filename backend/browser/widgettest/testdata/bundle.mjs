// Bundles each file of src into dist, for pages that are written as modules.
import { readdirSync } from 'node:fs'
import { build } from 'esbuild'

await build({
  entryPoints: readdirSync('src').map((f) => `src/${f}`),
  outdir: 'dist',
  bundle: true,
  format: 'iife',
  define: { 'process.env.NODE_ENV': '"development"', global: 'globalThis' },
  loader: { '.css': 'css' },
  logLevel: 'warning',
})
