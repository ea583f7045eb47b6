import { type AuthCall, expectAnswer, type Faults, invalidRequest, JsonObject } from './call.ts';
import { type InPasswordQueue, priorities } from './password-queue.ts';

/** Creates the call that sets a password with the token of a session. */
export function createPasswordChange(call: AuthCall, inPasswordQueue: InPasswordQueue) {
  return async (token: string, body: object, ip: string): Promise<void> => {
    const put = async () => expectAnswer(JsonObject, await call('user', { ip, method: 'PUT', body, bearer: token }));
    await inPasswordQueue(ip, put, { priority: priorities.passwordChange });
  };
}

/** Codes of Auth for a session or user that no longer exists. */
export const goneCodes = ['session_not_found', 'user_not_found', 'user_banned', 'bad_jwt'];

/** Returns the error for a password that Auth finds too weak, at sign-up and later. */
export const weakPassword = () =>
  invalidRequest(
    'password: too easy to guess. Choose a longer one with different kinds of characters.',
    'password',
    'weak_password',
  );

const wrongCurrentPassword = () =>
  invalidRequest(
    'current_password: is not the password of this account.',
    'current_password',
    'wrong_current_password',
  );

/** Errors of setting a password. */
export const passwordFaults: Faults = {
  same_password: () => invalidRequest('password: must differ from the current one.', 'password', 'same_password'),
  weak_password: weakPassword,
  validation_failed: () => invalidRequest('password: was not accepted.', 'password'),
  current_password_required: () =>
    invalidRequest('current_password: is required.', 'current_password', 'current_password_required'),
  insufficient_aal: () =>
    invalidRequest(
      'The account has a second factor, which this service does not support. The operator must remove it.',
      undefined,
      'second_factor',
    ),
  // Map both codes of this error, because Auth sends the first, although its list of codes has the second.
  current_password_invalid: wrongCurrentPassword,
  current_password_mismatch: wrongCurrentPassword,
};
