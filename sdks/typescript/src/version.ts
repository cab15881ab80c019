/** The version of this package; the daemon's is compared with it. */
export const VERSION = "0.1.0";
