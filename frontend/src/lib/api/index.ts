export { api, blobURL } from './calls'
export { Fault, faultOf } from './errors'
export { subscribe } from './subscribe'
export type * from './types'
