import { NotChecked, Problem, reasonOf, throwAll } from './result.ts';
import { check } from './run.ts';

const keysPage = 'Certificates, Identifiers & Profiles, in the Apple developer account';

/** Returns the problem for an error that came instead of `invalid_grant`, from Apple or from the network. */
function problemOf(error: string, clientId: string): Problem {
  if (error === 'invalid_client' || error === 'unauthorized_client')
    return new Problem(
      `Apple does not accept the client ${clientId}: ${error}.`,
      `Compare with ${keysPage}: APPLE_TEAM_ID (of the team), APPLE_KEY_ID and APPLE_PRIVATE_KEY (of one key with Sign in with Apple, not revoked), and ${clientId} in APPLE_CLIENT_IDS (a bundle id or Services ID of the team with Sign in with Apple).`,
    );
  return new Problem(
    `It is unknown whether Apple accepts the client ${clientId}: ${error}.`,
    'Check that this machine reaches https://appleid.apple.com, and run the doctor again.',
  );
}

export const revocation = check('Revocation at Apple', [], async ({ apple }) => {
  if (apple === null)
    throw new NotChecked(
      'APPLE_TEAM_ID is not set: tokens of Apple are not revoked, as the App Store requires of apps with Sign in with Apple.',
    );
  const checkClient = async (clientId: string) => {
    const error = await apple.errorOfMadeUpCode(clientId).catch(reasonOf);
    return error === 'invalid_grant' ? undefined : problemOf(error, clientId);
  };
  throwAll(await Promise.all(apple.clientIds.map(checkClient)));
  return `Apple accepts the key for ${apple.clientIds.join(', ')}.`;
});
