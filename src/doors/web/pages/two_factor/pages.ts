import { challengePages } from './challenge.ts';
import { twoFactorPages } from './own_two_factor.ts';

export const pages = [...twoFactorPages, ...challengePages];
