import type { components } from './document.types.ts';

/** A type of the service's document; as an interface of its own it has a name when one hovers over it. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];
