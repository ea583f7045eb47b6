import type { components } from './document.types.ts';

/** A type of the OpenAPI document. Extend it by an interface, so that editors show its name. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];
