import { noAnswer } from './error.ts';

/** Returns a part of the client that is loaded when it is needed. @throws SoundsError `no_answer` without a network */
export const loaded = <Part>(part: Promise<Part>): Promise<Part> =>
  part.catch((error) => Promise.reject(noAnswer(error)));
