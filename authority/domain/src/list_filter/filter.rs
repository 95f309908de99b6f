//! What a filter is, and how one is declared.

use super::parameter::{Parameter, ParameterValue};
use crate::refusal::Result;

/// The filter of a list.
pub trait ListFilter: Sized + Send + 'static {
    /// Its parameters, in the order of the description.
    const PARAMETERS: &'static [Parameter];

    /// Reads them.
    ///
    /// # Errors
    /// `invalid_parameter`.
    fn read(query: &mut impl TakeParameter) -> Result<Self>;
}

/// Gives the parameters of a request, each once.
pub trait TakeParameter {
    /// The value of a parameter; the default when it is not given.
    ///
    /// # Errors
    /// `invalid_parameter`.
    fn take<V: ParameterValue>(&mut self, name: &'static str) -> Result<V>;
}

/// The filter of a list that has none.
impl ListFilter for () {
    const PARAMETERS: &'static [Parameter] = &[];

    fn read(_: &mut impl TakeParameter) -> Result<Self> {
        Ok(())
    }
}

/// Declares filters. The documentation of a field is the parameter's description; `field as "name"` is a parameter
/// whose name differs from that of the field. `check` is called with the filter once it is read.
macro_rules! filters {
    ($(
        $(#[doc = $doc:literal])*
        $filter:ident $(check $check:ident)? {
            $($(#[doc = $about:literal])+ $field:ident $(as $name:literal)?: $value:ty,)+
        }
    )+) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $filter { $($(#[doc = $about])+ pub $field: $value,)+ }

        impl $crate::list_filter::ListFilter for $filter {
            const PARAMETERS: &'static [Parameter] = &[$(Parameter {
                name: [$($name,)? stringify!($field)][0],
                about: concat!($($about),+).trim_ascii_start(),
                form: <$value as ParameterValue>::FORM,
            },)+];

            fn read(query: &mut impl TakeParameter) -> Result<Self> {
                let read = Self { $($field: query.take([$($name,)? stringify!($field)][0])?,)+ };
                $($check(&read)?;)?
                Ok(read)
            }
        }
    )+};
}

pub(super) use filters;
