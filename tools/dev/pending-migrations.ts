/** What to do about migrations that a running stack does not have. */
export const howToApply = (pending: string[]) =>
  `${pending.join(', ')} has not been applied. Stop npm run dev, and start it again.`;
