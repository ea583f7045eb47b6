import type { Schema } from './schema.ts';

/** Everything that the service stores about the user. */
export interface AccountExport extends Schema<'AccountExport'> {}

/** A category with its subcategories (sub-intentions). */
export interface Category extends Schema<'Category'> {}

/** The customer record of the user. */
export interface Customer extends Schema<'Customer'> {}

/** A section of the home page with its sounds. */
export interface HomeSection extends Schema<'HomeSection'> {}

/** The profile of the user. */
export interface Profile extends Schema<'Profile'> {}

/** Fields of the customer record to change. */
export interface CustomerChanges extends Schema<'UpdateCustomerRequest'> {}

/** A favorite of the user. `sounds` is null while the sound is hidden. */
export interface Favorite extends Schema<'Favorite'> {}

/** Position at which the user stopped in a sound. `sounds` is null while the sound is hidden. */
export interface ProgressEntry extends Schema<'ProgressEntry'> {}

/** A sound that the user listened to, and when. `sounds` is null while the sound is hidden. */
export interface HistoryEntry extends Schema<'HistoryEntry'> {}
