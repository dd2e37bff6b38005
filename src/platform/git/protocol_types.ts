/**
 * Types of the repository storage protocol, and rules that both sides share, re-exported for the rest of the service.
 */
export type {
  GitErrorKind,
  Method,
  Methods,
  PushAnswer,
  PushNotice,
  PushNoticeAnswer,
  PushQuestion,
  PushedRef,
  Quota,
  StorageLoad,
  Stream,
  Streams,
} from '../../../gitd/protocol.ts';
export type {
  ActionProblem,
  Client,
  Commit,
  CommitAction,
  CommitWalk,
  ConflictKind,
  Contributor,
  DiffLimits,
  Divergence,
  FileDiff,
  Oid,
  Ref,
  RefUpdate,
  Sight,
  Signature,
  StorageState,
  TreeEntry,
} from '../../../gitd/protocol_records.ts';
export { protocolVersion } from '../../../gitd/protocol.ts';
export { zeroOid } from '../../../gitd/protocol_records.ts';
export { isNewRef } from '../../../gitd/ref_names.ts';
export {
  type Packet,
  flushPacket,
  packet,
  readPacketAt,
  toLine,
} from '../../../gitd/transport/packet_lines.ts';
