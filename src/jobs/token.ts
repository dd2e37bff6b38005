/** Tokens of jobs: what a job signs in with while it runs (`access/job_token.ts`). */
import { jobTokenStart } from '../access/job_token.ts';
import { hashToken } from '../access/token_text.ts';

export const newJobToken = (random: (bytes: number) => Buffer): string =>
  `${jobTokenStart}${random(25).toString('base64url')}`;

export const hashJobToken = hashToken;
