import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import ts from 'typescript-eslint'
import svelteConfig from './svelte.config.js'

// Which part may import which: features → state → api, features → ui. Nothing
// points up, and features do not know each other; the shell places them.
const features = ['chat', 'sessions', 'settings', 'onboarding', 'browser']
const forbid = (message, ...group) => ({ group, message })
const wails = forbid('Only lib/api talks to the window.', '**/wailsjs/**')
const layer = (files, ...patterns) => ({
  files: files.flatMap((f) => [`${f}/**/*.ts`, `${f}/**/*.svelte`]),
  ignores: ['**/*.test.ts'],
  rules: { 'no-restricted-imports': ['error', { patterns }] },
})

export default ts.config(
  { ignores: ['dist', 'src/lib/wailsjs', 'src/lib/api/events.gen.ts'] },
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  {
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      'svelte/no-at-html-tags': 'error',
      'svelte/no-navigation-without-resolve': 'off',
      // Private indexes need no signals.
      'svelte/prefer-svelte-reactivity': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
    },
  },
  // The two places that set HTML: it comes out of lib/text/markdown, cleaned.
  {
    files: ['src/lib/ui/CodeBlock.svelte', 'src/lib/ui/Markdown.svelte'],
    rules: { 'svelte/no-at-html-tags': 'off' },
  },
  layer(['src'], wails),
  layer(
    ['src/lib/text', 'src/lib/keys'],
    wails,
    forbid('Words know nothing of the product.', '**/state/*', '**/ui/*', '**/features/**'),
  ),
  layer(['src/lib/api'], forbid('Arrows point down.', '**/state/*', '**/ui/*', '**/features/**')),
  layer(['src/lib/state'], wails, forbid('State knows no components.', '**/ui/*', '**/features/**')),
  layer(
    ['src/lib/ui'],
    wails,
    forbid('Parts know nothing of the product.', '**/state/*', '**/api/*', '**/features/**'),
  ),
  ...features.map((name) =>
    layer(
      [`src/features/${name}`],
      wails,
      { group: ['**/api'], importNames: ['api', 'subscribe'], message: 'Features go through lib/state.' },
      forbid(
        'Features do not import each other.',
        ...features.filter((f) => f !== name).map((f) => `**/${f}/*`),
      ),
    ),
  ),
  {
    files: ['src/lib/api/calls.ts', 'src/lib/api/types.ts', 'src/lib/api/subscribe.ts'],
    rules: { 'no-restricted-imports': 'off' },
  },
)
