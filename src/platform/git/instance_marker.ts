/** The marker of a folder or a bucket: the id of the instance whose data it holds. */
export { markerName, readMarker, writeMarker } from '../../../gitd/disk/instance_marker.ts';
