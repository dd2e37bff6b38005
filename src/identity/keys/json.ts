import type { Site } from '../../core/access/site.ts';
import {
  array,
  bool,
  int,
  nullable,
  object,
  optional,
  string,
  timestamp,
} from '../../platform/http/schema.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import { type BasicUserRow, basicUser, basicUserShape } from '../users/json.ts';
import type { KeyProjectRow, KeyRow } from './queries.ts';

export const keyShape = object({
  id: int,
  title: string,
  key: string,
  fingerprint: string,
  fingerprint_sha256: string,
  created_at: timestamp,
  expires_at: nullable(timestamp),
  usage_type: string,
  last_used_at: nullable(timestamp),
});

/** A user's key as everyone sees it. */
export const publicKeyShape = object({
  id: int,
  title: string,
  key: string,
  created_at: timestamp,
  expires_at: nullable(timestamp),
  usage_type: string,
});

const keyProjectShape = object({
  deploy_key_id: int,
  project_id: int,
  can_push: bool,
  created_at: timestamp,
});

/** `user` is null for a deploy key. Only deploy keys have `deploy_keys_projects`. */
export const keyWithUserShape = object({
  ...keyShape.properties,
  user: optional(nullable(basicUserShape)),
  deploy_keys_projects: optional(array(keyProjectShape)),
});

/** Omits the comment, which is often an e-mail address. */
export const publicKeyJson = ({ id, title, type, blob, created_at, expires_at, usage_type }: KeyRow) => ({
  id,
  title,
  key: `${type} ${blob}`,
  created_at: formatTime(created_at),
  expires_at: formatTimeOrNull(expires_at),
  usage_type,
});

export const keyJson = (row: KeyRow) => ({
  ...publicKeyJson(row),
  key: [row.type, row.blob, row.comment].join(' ').trim(),
  fingerprint: row.fingerprint,
  fingerprint_sha256: `SHA256:${row.fingerprint_sha256}`,
  last_used_at: formatTimeOrNull(row.last_used_at),
});

export const keyWithUserJson = (row: KeyRow, user: BasicUserRow, site: Site) => ({
  ...keyJson(row),
  user: basicUser(user, site),
});

export const deployKeyWithProjectsJson = (row: KeyRow, projects: readonly KeyProjectRow[]) => ({
  ...keyJson(row),
  user: null,
  deploy_keys_projects: projects.map(({ project_id, can_push, created_at }) => ({
    deploy_key_id: row.id,
    project_id,
    can_push: can_push === 1,
    created_at: formatTime(created_at),
  })),
});
