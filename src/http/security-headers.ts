import { hash } from 'node:crypto';
import helmet from 'helmet';

const headersWith = (sources: Record<string, string[]>) =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"], ...sources },
    },
    xFrameOptions: { action: 'deny' },
  });

/** Headers of JSON responses, which must not be run, framed or sniffed. */
export const securityHeaders = headersWith({});

/**
 * Headers of the reference, which loads from this origin alone and has no inline script. Scalar makes its styles at run
 * time, which needs 'unsafe-inline'. Under the rest of this policy styles cannot send data.
 */
export const pageSecurityHeaders = headersWith({
  scriptSrc: ["'self'"],
  styleSrc: ["'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
});

/** Returns the hashes by which a policy allows the inline elements of a page with this name. */
const hashesOf = (html: string, name: 'script' | 'style') =>
  [...html.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(
    ([, content = '']) => `'sha256-${hash('sha256', content, 'base64')}'`,
  );

/** Returns the headers of a page that consists of one file, and calls the endpoints of this origin alone. */
export const inlinePageHeaders = (html: string) =>
  headersWith({
    scriptSrc: hashesOf(html, 'script'),
    styleSrc: hashesOf(html, 'style'),
    imgSrc: ['data:'],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
  });
