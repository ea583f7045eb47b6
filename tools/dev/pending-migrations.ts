/** Returns how to apply migrations that a running stack lacks. */
export const howToApply = (pending: string[]) =>
  `${pending.join(', ')} has not been applied. Stop npm run dev, and start it again.`;
