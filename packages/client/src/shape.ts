/** Tells whether the body of a 2xx response belongs to the operation that was called. Null stands for invalid JSON. */
export type IsAnswer = (body: unknown) => boolean;

interface Data {
  ok?: unknown;
  adopted?: unknown;
  access_token?: unknown;
  refresh_token?: unknown;
  user?: unknown;
}

/** Matches paths of plurals and of the history. Operations on them return lists, unless they are changes. */
const lists = /(s|history)$/;
const changes = /^(DELETE|POST .(favorites|me.apple.revocation|auth.(signout|recover|resend|password))$)/;
const signIns = /^POST .auth.(signin|guest|oauth|verify)/;

const isObject = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isList = (value: unknown) => Array.isArray(value) && value.every(isObject);

/**
 * Tells whether a body has the shape of an operation, so that the page of a proxy is never taken for a success.
 * @param operation method and path as in the OpenAPI document, such as `GET /sounds/{id}`
 */
export function isAnswerTo(operation: string, body: unknown): boolean {
  const { data, sections } = (body ?? {}) as { data?: unknown; sections?: unknown };
  if (operation === 'GET /home') return isList(sections);
  if (lists.test(operation) && !changes.test(operation)) return isList(data);
  if (!isObject(data)) return false;
  if (changes.test(operation)) return data.ok === true;
  const hasTokens = typeof data.refresh_token === 'string' && typeof data.access_token === 'string';
  if (signIns.test(operation)) return hasTokens && isObject(data.user);
  if (operation === 'POST /me/guest') return data.adopted === true;
  if (operation === 'POST /auth/signup') return isObject(data.user);
  return operation !== 'POST /auth/refresh' || hasTokens;
}
