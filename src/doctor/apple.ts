import { NotChecked, Problem, reasonOf, throwAll } from './result.ts';
import { check } from './run.ts';

const keysPage = 'Certificates, Identifiers & Profiles, in the Apple developer account';

/** Returns the fix for an error with which Apple answers a made-up code. */
function remedyOf(error: string, clientId: string): string {
  if (error === 'invalid_client' || error === 'unauthorized_client')
    return `Compare with ${keysPage}: APPLE_TEAM_ID (of the team), APPLE_KEY_ID and APPLE_PRIVATE_KEY (of one key with Sign in with Apple, not revoked), and ${clientId} in APPLE_CLIENT_IDS (a bundle id or Services ID of the team with Sign in with Apple).`;
  return 'Check that this machine reaches https://appleid.apple.com, and run the doctor again.';
}

export const revocation = check('Revocation at Apple', [], async ({ apple }) => {
  if (apple === null)
    throw new NotChecked(
      'APPLE_TEAM_ID is not set: tokens of Apple are not revoked, as the App Store requires of apps with Sign in with Apple.',
    );
  const problemOf = async (clientId: string) => {
    const error = await apple.errorOfMadeUpCode(clientId).catch(reasonOf);
    if (error === 'invalid_grant') return undefined;
    return new Problem(`Apple does not accept the client ${clientId}: ${error}.`, remedyOf(error, clientId));
  };
  throwAll(await Promise.all(apple.clientIds.map(problemOf)));
  return `Apple accepts the key for ${apple.clientIds.join(', ')}.`;
});
