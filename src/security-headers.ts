import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet, { type HelmetOptions } from 'helmet';

/** What helmet sets. It is the same for every answer, and so found once instead of for each. */
function headOf(options: HelmetOptions): readonly string[] {
  const head: string[] = [];
  const res = { setHeader: (name: string, value: string) => head.push(name, value), removeHeader() {} };
  helmet(options)({} as IncomingMessage, res as unknown as ServerResponse, () => {});
  return head;
}

/** For what is not a page. */
export const securityHeaders = headOf({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: { action: 'deny' },
  xPermittedCrossDomainPolicies: false,
  xPoweredBy: false,
  xXssProtection: false,
});

/**
 * For the reference: nothing but what this origin serves, and no script inside the page. Scalar makes its styles as it
 * runs, which only 'unsafe-inline' allows; styles alone can send nothing anywhere under the rest of this policy.
 */
export const pageSecurityHeaders = headOf({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
});
