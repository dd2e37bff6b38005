/**
 * Row types of all tables. Times are milliseconds since 1970 (UTC), dates `YYYY-MM-DD`, flags 0 or 1. `target_type`
 * and `target_id` name the record that a shared row (note, todo, subscription...) belongs to.
 */
import type { CiSchema } from './ci.ts';
import type { CodeSchema } from './code.ts';
import type { CoreSchema } from './core.ts';
import type { CredentialsSchema } from './credentials.ts';
import type { HooksSchema } from './hooks.ts';
import type { IdentitySchema } from './identity.ts';
import type { MailSchema } from './mail.ts';
import type { PlanningSchema } from './planning.ts';
import type { ProjectsSchema } from './projects.ts';
import type { ReviewSchema } from './review.ts';

export type Schema = CoreSchema &
  IdentitySchema &
  CredentialsSchema &
  ProjectsSchema &
  CodeSchema &
  PlanningSchema &
  ReviewSchema &
  CiSchema &
  HooksSchema &
  MailSchema;
