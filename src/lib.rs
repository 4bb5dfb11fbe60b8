//! ClassAd interpreter and matchmaker.
