/** Tokens that authenticate a running job (see `core/access/credentials/job_token.ts`). */
import { jobTokenPrefix } from '../../core/access/credentials/job_token.ts';
import { hashToken } from '../../core/access/credentials/token_text.ts';

export const newJobToken = (random: (bytes: number) => Buffer): string =>
  `${jobTokenPrefix}${random(25).toString('base64url')}`;

export const hashJobToken = hashToken;
