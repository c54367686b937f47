import { mount } from 'svelte'
import App from './App.svelte'
import './app.css'

// In a plain browser on the dev server nothing stands behind the window: a
// recorded stream then answers. The built page never holds that part.
if (import.meta.env.DEV && !('go' in window)) {
  const { installFake } = await import('./lib/api/fake')
  installFake(new URLSearchParams(location.search).get('fake') ?? 'shelves')
}

mount(App, { target: document.getElementById('app')! })
