import { SoundsError, type Wait } from 'sounds-client';

/** Texts of the reasons and codes of errors. */
export const texts: { [reason in string]?: string } = {
  invalid_credentials: 'The e-mail address or the password is wrong.',
  code_invalid: 'The code is wrong, used, or too old.',
  address_confirmed: 'The address is confirmed. Choose a password with “Forgot your password?”.',
  address_taken: 'This address cannot be used. Do you have an account already?',
  weak_password: 'This password is too easy to guess.',
  same_password: 'That is your password already.',
  wrong_current_password: 'The current password is wrong.',
  session_ended: 'You are signed out. Sign in again.',
  locked: 'This sound needs premium.',
  too_many: 'There are too many lists, or too many sounds in one. Remove some first.',
  not_found: 'It is no longer there.',
  too_many_favorites: 'You have as many favorites as there can be. Remove some first.',
};

/** Returns the reason and duration of a wait; empty without a network, because `notify` shows that. */
export function waitText({ reason, until }: Wait): string {
  if (reason === 'offline') return '';
  const why = reason === 'limited' ? 'Too many requests' : 'The service does not answer';
  return `${why}: trying again in ${Math.ceil((until.getTime() - Date.now()) / 1000)} s.`;
}

/** Returns the text of an error for users, because the messages of the service are for developers. */
export function textOf(error: unknown): string {
  if (!(error instanceof SoundsError)) {
    reportError(error);
    return 'That did not work. Reload the page.';
  }
  if (error.retryAfter) return `Too many requests. Try again in ${Math.ceil(error.retryAfter / 60)} min.`;
  if (error.reason === 'validation') return `Check the ${error.field?.replace('_', ' ')}.`;
  if (error.code === 'no_answer')
    return navigator.onLine ? 'The service does not answer. Try again later.' : 'There is no network.';
  return texts[error.reason ?? ''] ?? texts[error.code] ?? `That did not work. (Request ${error.requestId})`;
}

/** Returns a time such as 1:05. */
export const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
