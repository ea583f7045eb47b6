import { api, type Preview } from './api.ts';

/** Undefined until it is known. */
let hasPremium: boolean | undefined;

/** Tells whether the user needs premium for a sound. The service decides; this is for the screens. */
export const isLocked = ({ is_premium }: Preview) => is_premium && hasPremium === false;

/** Returns the end of the user's premium, or null. */
export async function premiumUntil() {
  const { premium_until } = await api.customer.get();
  hasPremium = premium_until !== null && new Date(premium_until) > new Date();
  return hasPremium ? premium_until : null;
}

addEventListener('session', ({ detail: { type } }) => {
  if (type === 'signedOut') hasPremium = undefined;
});
