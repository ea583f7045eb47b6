import { readFileSync } from 'node:fs';

/** Returns the script that starts the reference. Its requests carry the access token, if there is one. */
export function referenceScript(token: string | undefined): string {
  const script = readFileSync(new URL('../../src/openapi/assets/start.js', import.meta.url), 'utf8');
  const authentication = { preferredSecurityScheme: 'bearer', securitySchemes: { bearer: { token } } };
  return `const { createApiReference } = Scalar;
Scalar.createApiReference = (element, options) =>
  createApiReference(element, { ...options, authentication: ${JSON.stringify(authentication)} });
${script}`;
}
