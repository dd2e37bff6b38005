import { challengePages } from './challenge.ts';
import { twoFactorPages } from './own.ts';

export const pages = [...twoFactorPages, ...challengePages];
