import type { components } from './document.types.ts';

/** A schema of the OpenAPI document. Declare an interface that extends it, so that editors show its name. */
export type Schema<Name extends keyof components['schemas']> = NonNullable<components['schemas'][Name]>;
