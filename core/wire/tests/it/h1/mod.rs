//! Tests of the public HTTP/1 interface: tables of cases, the fuzz targets on their corpus,
//! properties, goldens.

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod rendering;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod responses;
#[cfg(test)]
mod table;
